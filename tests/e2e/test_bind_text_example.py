"""The text example as its README says: it fits its model, and the model reads the words that tell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cutaway.dataset import Dataset, LeapText, load_entry
from cutaway.dataset.enums import Role
from cutaway.evaluation import CheckStatus, Evaluation, check, evaluations
from cutaway.models import Model, load
from cutaway.run import Run

pytest.importorskip("sklearn")
pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

EXAMPLE = Path(__file__).parents[2] / "examples" / "bind_text"
MODEL = "model.onnx"
LARGEST = 150_000
PADDING, UNKNOWN = 0, 1
Arrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_entry(EXAMPLE / "leap.yaml").dataset()


@pytest.fixture(scope="module")
def model() -> Model:
    return load(EXAMPLE / MODEL)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = copied(tmp_path_factory.mktemp("evaluated"))
    python("-m", "cutaway", "evaluate", ".", MODEL, "--json", cwd=folder)
    [run] = (folder / "runs").iterdir()
    [evaluation] = evaluations(Run.open(run))
    return evaluation


def copied(parent: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, parent / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__")))


def python(*words: str, cwd: Path) -> str:
    environment = {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def arrays(dataset: Dataset, subset: str) -> Arrays:
    """Tokens and labels of every sentence of a subset."""
    one = dataset.subsets[subset]
    tokens = np.stack([one.encode(Role.INPUT, "tokens", index) for index in range(len(one))])
    labels = np.stack([one.encode(Role.GROUND_TRUTH, "package", index) for index in range(len(one))])
    return tokens, labels.argmax(axis=1)


def test_the_binding_fits_its_model_and_it_is_right(model: Model) -> None:
    report = check(EXAMPLE, model)
    assert report.findings == ()
    assert {row.status for row in report.rows} == {CheckStatus.PASS}


@pytest.mark.slow
def test_sentences_of_two_subsets_that_are_one_to_the_model_are_found(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    path = folder / "leap_binder.py"
    text = path.read_text(encoding="utf-8")
    assert " and given not in seen" in text
    path.write_text(text.replace(" and given not in seen", ""), encoding="utf-8")
    first = check(folder).first
    assert first is not None
    assert first.code == "binding-leak"


@pytest.mark.slow
def test_evaluate_gives_every_sentence_a_row_and_most_a_right_answer(evaluated: Evaluation, dataset: Dataset) -> None:
    assert {name: evaluated.table(name).num_rows for name in evaluated.subsets} == {
        name: len(subset) for name, subset in dataset.subsets.items()
    }
    assert evaluated.failures() == []
    margins = {name: evaluated.table(name)["metric.margin"].to_numpy() for name in evaluated.subsets}
    assert (margins["training"] > 0).mean() >= 0.95
    assert 0.85 <= (margins["test"] > 0).mean() <= 0.97


@pytest.mark.slow
def test_unknown_words_cost_answers(evaluated: Evaluation) -> None:
    table = evaluated.table("test")
    fewest_first = np.argsort(table["metadata.unknown_share"].to_numpy(), kind="stable")
    right = table["metric.margin"].to_numpy()[fewest_first] > 0
    fewest, *_, most = np.array_split(right, 3)
    assert fewest.mean() > most.mean() + 0.03


@pytest.mark.slow
def test_hiding_the_word_that_tells_costs_more_than_hiding_another(dataset: Dataset, model: Model) -> None:
    told = telling(*arrays(dataset, "training"))
    tokens, labels = arrays(dataset, "test")
    before = model.predict(tokens)["prediction"]
    more = []
    for row in np.flatnonzero(before.argmax(axis=1) == labels):
        drops = before[row, labels[row]] - hidden_scores(model, tokens[row], labels[row])
        telling_word = told[tokens[row, : len(drops)], labels[row]].argmax()
        more.append(drops[telling_word] > np.delete(drops, telling_word).mean())
    assert len(more) > 400
    assert np.mean(more) >= 0.85


def telling(tokens: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How much more often each token is in a sentence of each class than in the others, as a logarithm; no model."""
    there = np.stack([np.bincount(np.unique(row), minlength=tokens.max() + 1) for row in tokens])
    shares = np.stack([(there[labels == label].sum(axis=0) + 0.5) / (labels == label).sum() for label in range(3)], 1)
    odds = np.log(shares / (shares.sum(axis=1, keepdims=True) - shares))
    odds[[PADDING, UNKNOWN]] = -np.inf
    return odds


def hidden_scores(model: Model, tokens: npt.NDArray[np.int64], label: int) -> npt.NDArray[np.float32]:
    """The score of a class with each of the words made unknown in its turn."""
    count = int((tokens != PADDING).sum())
    batch = np.repeat(tokens[None], count, axis=0)
    np.fill_diagonal(batch, UNKNOWN)
    scores: npt.NDArray[np.float32] = model.predict(batch)["prediction"][:, label]
    return scores


@pytest.mark.slow
def test_gradients_reach_the_words_and_not_the_padding(dataset: Dataset, model: Model) -> None:
    tokens = arrays(dataset, "validation")[0][:64]
    embedding = model.layers[0].name
    gradient = np.abs(model.gradient(tokens, wrt=embedding).gradient).sum(axis=2)
    assert gradient.shape == tokens.shape
    assert (gradient[tokens != PADDING] > 0).mean() > 0.9
    # The convolution sees one place to each side: what lies two behind the last word is seen by no word.
    behind = np.cumsum(tokens == PADDING, axis=1) >= 2
    assert gradient[behind].max() == 0


def test_a_heat_map_lies_on_the_words_as_the_visualizer_shows_them(dataset: Dataset) -> None:
    [visualizer] = [one for one in dataset.visualizers if one.name == "sentence"]
    tokens = dataset.subsets["test"].encode(Role.INPUT, "tokens", 0)
    shown = visualizer.function(tokens)
    assert visualizer.heatmap is not None
    heat = visualizer.heatmap((tokens != PADDING).astype(np.float32))
    assert isinstance(shown, LeapText)
    assert [bool(word) for word in shown.data] == (heat > 0).tolist()


def test_the_files_are_small_and_name_no_folder_of_anybody() -> None:
    for name in (MODEL, "vocabulary.txt"):
        content = (EXAMPLE / name).read_bytes()
        assert len(content) < LARGEST
        for word in (b"site-packages", b"/home/", b"/Users/", b'.py", line'):
            assert word not in content


@pytest.mark.slow
def test_training_anew_gives_as_good_a_model(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / MODEL).unlink()
    (folder / "vocabulary.txt").unlink()
    told = python("train_model.py", cwd=folder)
    assert float(told.split("test: ")[1].split("%")[0]) >= 85
    assert check(folder, folder / MODEL).findings == ()
