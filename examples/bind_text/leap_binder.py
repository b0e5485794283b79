"""Binds sentences of documentation: which of three packages was each one written for?

`sentences.py` reads them from the packages that are installed. `vocabulary.txt` has a word a line; the number of its
line is the word's token. `train_model.py` wrote it beside the model: the two belong together.
"""

from pathlib import Path

import numpy as np
from sentences import LABELS, LONGEST, NUMBER, Sentence, read_sentences

from cutaway.dataset import (
    DatasetMetadataType,
    DataStateType,
    LeapDataType,
    LeapText,
    MetricDirection,
    PreprocessResponse,
    leap_binder,
    tensorleap_custom_metric,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_metadata,
    tensorleap_preprocess,
)

PADDING, UNKNOWN = 0, 1
VOCABULARY = (Path(__file__).parent / "vocabulary.txt").read_text(encoding="utf-8").split()
TOKENS = {word: token for token, word in enumerate(VOCABULARY)}


@tensorleap_preprocess()
def preprocess() -> list[PreprocessResponse]:
    """Read all sentences; one that stays in the next version of its package keeps its id and its subset."""
    sentences = read_sentences()
    responses = []
    seen: set[bytes] = set()
    for state in (DataStateType.training, DataStateType.validation, DataStateType.test):
        data = {}
        for one in sentences:
            # Two that differ in unknown words alone are one to the model: in two subsets that is a leak.
            given = encode(one.words).tobytes()
            if one.subset == state.name and given not in seen:
                seen.add(given)
                data[one.digest] = one
        responses.append(PreprocessResponse(sample_ids=list(data), data=data, state=state))
    return responses


def encode(words: tuple[str, ...]) -> np.ndarray:
    """Return the tokens of words, filled up with padding. Words that are not in the vocabulary share one token."""
    tokens = np.full(LONGEST, PADDING, np.int64)
    tokens[: len(words)] = [TOKENS.get(word, UNKNOWN) for word in words]
    return tokens


def tokens(digest: str, subset: PreprocessResponse) -> np.ndarray:
    """The sentence as the model gets it: 32 whole numbers."""
    return encode(subset.data[digest].words)


# By the method, not by the decorator: that one is for float32, and tokens are whole numbers.
leap_binder.set_input(tokens, "tokens")


@tensorleap_gt_encoder("package")
def package(digest: str, subset: PreprocessResponse) -> np.ndarray:
    """The right answer, one-hot."""
    return np.eye(len(LABELS), dtype=np.float32)[subset.data[digest].label]


@tensorleap_metadata("words", DatasetMetadataType.int)
def words(digest: str, subset: PreprocessResponse) -> int:
    """How many words the model gets."""
    return len(subset.data[digest].words)


@tensorleap_metadata("unknown_share", DatasetMetadataType.float)
def unknown_share(digest: str, subset: PreprocessResponse) -> float:
    """The share of words that are not in the vocabulary: the model cannot tell them apart."""
    sentence: Sentence = subset.data[digest]
    return sum(word not in TOKENS for word in sentence.words) / len(sentence.words)


@tensorleap_metadata("numbers", DatasetMetadataType.int)
def numbers(digest: str, subset: PreprocessResponse) -> int:
    """How many numbers are in it."""
    return subset.data[digest].words.count(NUMBER)


@tensorleap_metadata("code", {"names": DatasetMetadataType.int, "formula": DatasetMetadataType.boolean})
def code(digest: str, subset: PreprocessResponse) -> dict[str, int | bool]:
    """How many pieces of code are quoted, and whether there is a formula: `code_names` and `code_formula`."""
    text = subset.data[digest].text
    return {"names": text.replace("``", "`").count("`") // 2, "formula": "\\" in text or "$" in text}


@tensorleap_metadata("text", DatasetMetadataType.string)
def text(digest: str, subset: PreprocessResponse) -> str:
    """The sentence as it was written."""
    return subset.data[digest].text


@tensorleap_custom_metric("margin", direction=MetricDirection.Upward)
def margin(package: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """How far the right package is ahead of the better of the others: below 0 the answer is wrong."""
    right = (package * prediction).sum(axis=1)
    best_other = (prediction - 2 * package).max(axis=1)
    return (right - best_other).astype(np.float32)


def heat_of_words(tokens: np.ndarray) -> np.ndarray:
    """Cut a heat map as `sentence` cuts the tokens: it shows a place for each of them, padding too."""
    return tokens.reshape(LONGEST).astype(np.float32)


@tensorleap_custom_visualizer("sentence", LeapDataType.Text, heatmap_function=heat_of_words)
def sentence(tokens: np.ndarray) -> LeapText:
    """The words as the model sees them: what it does not know is `<unknown>`."""
    return LeapText(["" if token == PADDING else VOCABULARY[token] for token in tokens.astype(int)])


leap_binder.add_prediction("prediction", LABELS)
