from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from sklearn.naive_bayes import MultinomialNB

from cutaway.analysis.classes.confusion import ConfusionCounts, confusion
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def _samples(labels: Any, predictions: Any, **columns: Any) -> Samples:
    table = {"label": labels, "prediction": predictions, **columns}
    samples = Samples.from_arrays(np.zeros((len(labels), 1)), columns=table)
    return Samples(samples.table, samples.latents)


def _texts(values: Any) -> list[str | None]:
    return [None if one is None else str(one) for one in values]


@pytest.fixture(scope="module")
def digits() -> tuple[Samples, Any, Any]:
    images, labels = load_digits(return_X_y=True)
    model = MultinomialNB().fit(images[:300], labels[:300])
    chances = model.predict_proba(images[300:])
    subsets = ["validation" if i % 3 else "test" for i in range(len(chances))]
    samples = Samples.from_arrays(images[300:], labels[300:], chances, {"subset": subsets})
    return samples, labels[300:], chances.argmax(axis=1)


def test_counts_precision_recall_and_f1_are_scikit_learns(digits: tuple[Samples, Any, Any]) -> None:
    samples, labels, predictions = digits
    found = confusion(samples)
    assert found.classes == tuple("0123456789")
    assert (found.matrix() == confusion_matrix(labels, predictions)).all()
    assert found.accuracy == pytest.approx(accuracy_score(labels, predictions))
    assert found.low < found.accuracy < found.high
    expected = precision_recall_fscore_support(labels, predictions)
    for name, values in zip(("precision", "recall", "f1", "support"), expected, strict=True):
        np.testing.assert_allclose(found.by_class[name].to_numpy(), values)
    for name in ("precision", "recall"):
        low, share, high = (found.by_class[one].to_numpy() for one in (f"{name}_low", name, f"{name}_high"))
        assert ((low <= share) & (share <= high) & (low >= 0) & (high <= 1)).all()


def test_the_most_confused_pairs_come_first_with_their_share(digits: tuple[Samples, Any, Any]) -> None:
    samples, labels, predictions = digits
    found = confusion(samples)
    matrix = confusion_matrix(labels, predictions)
    np.fill_diagonal(matrix, 0)
    top = found.most_confused(3)
    assert top["count"].to_pylist() == sorted(matrix.ravel().tolist(), reverse=True)[:3]
    for row in top.to_pylist():
        true, named = int(row["label"]), int(row["prediction"])
        assert row["count"] == matrix[true, named]
        assert row["share"] == pytest.approx(matrix[true, named] / (labels == true).sum())
    assert "is predicted as" in found.words()


def test_parts_are_the_confusions_of_their_samples(digits: tuple[Samples, Any, Any]) -> None:
    samples, labels, predictions = digits
    found = confusion(samples, by="subset")
    own = samples.table["subset"].to_numpy() == "test"
    assert list(found.parts) == ["test", "validation"]
    assert (found.parts["test"].matrix() == confusion_matrix(labels[own], predictions[own], labels=range(10))).all()
    assert sum(part.count for part in found.parts.values()) == found.count
    assert (sum(part.matrix() for part in found.parts.values()) == found.matrix()).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=50))
def test_any_answers_are_counted_cell_by_cell(rows: list[tuple[int, int]]) -> None:
    labels, predictions = zip(*rows, strict=True)
    found = confusion(_samples(_texts(labels), _texts(predictions)))
    # Classes that only predictions name stand behind the labels.
    place = {name: number for number, name in enumerate(found.classes)}
    ours = [[place[str(one)] for one in side] for side in (labels, predictions)]
    counts = np.zeros((len(place), len(place)), int)
    np.add.at(counts, tuple(ours), 1)
    assert (found.matrix() == counts).all()
    assert sum(found.pairs["count"].to_pylist()) == len(rows)


def test_a_model_that_is_always_right_confuses_nothing() -> None:
    found = confusion(_samples(["a", "b"] * 20, ["a", "b"] * 20))
    assert found.accuracy == found.high == 1
    assert found.low < 0.95
    assert found.most_confused().num_rows == 0
    assert found.words() == "accuracy 1.0000 [0.9124, 1.0000], 40 samples"
    assert found.notes == ()


def test_missing_labels_and_predictions_are_counted_and_said() -> None:
    found = confusion(
        _samples(["a", None, "b", None, "b"], ["a", "a", None, None, "a"], g=["x", "x", "x", "x", None]), by="g"
    )
    assert (found.count, found.missing) == (2, 3)
    assert found.notes == (
        "3 of 5 samples are left out: 2 without a label, 1 without a prediction.",
        "Samples that belong to no part: 1.",
    )
    assert found.matrix().tolist() == [[1, 0], [1, 0]]


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    rows = confusion(_samples(["a", "b"], ["a", "a"])).by_class.to_pylist()
    assert (rows[1]["precision"], rows[1]["precision_low"], rows[1]["recall"], rows[1]["f1"]) == (None, None, 0, 0)


def test_a_class_without_samples_keeps_its_place() -> None:
    samples = Samples.from_arrays(np.zeros((2, 1)), [0, 2], np.eye(3)[[0, 0]])
    found = confusion(samples)
    assert found.matrix().tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert found.by_class["f1"].to_pylist()[1] is None


def test_one_class_and_one_sample_give_a_matrix() -> None:
    assert confusion(_samples(["a"], ["a"])).matrix().tolist() == [[1]]


def test_ten_thousand_classes_have_pairs_and_no_whole_matrix() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10_000, 50_000)
    found = confusion(_samples(_texts(labels), _texts(np.where(rng.random(50_000) < 0.9, labels, 7))))
    assert found.by_class.num_rows == len(found.classes) == len(set(labels.tolist()))
    assert sum(found.pairs["count"].to_pylist()) == 50_000
    assert found.most_confused(5)["prediction"].to_pylist() == ["7"] * 5
    assert "have no whole matrix" in found.notes[0]
    with pytest.raises(AnalysisUnavailable, match="`pairs` has the cells that are not 0"):
        found.matrix()


def _with(**columns: Any) -> Samples:
    return Samples.from_arrays(np.zeros((3, 1)), columns=columns)


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (_with(loss=[1.0, 2.0, 3.0]), "the samples have no 'label'"),
        (_with(label=["a", "b", "c"]), "the samples have no 'prediction'"),
        (_with(label=["a", None, None], prediction=[None, "a", None]), "2 without a label, 1 without a prediction"),
    ],
)
def test_samples_without_one_class_each_have_no_confusion(samples: Samples, reason: str) -> None:
    with pytest.raises(AnalysisUnavailable, match=reason):
        confusion(samples)


def test_wrong_arguments_are_refused() -> None:
    samples = _samples(_texts(range(200)), _texts(range(200)), g=_texts(range(200)))
    with pytest.raises(AnalysisUnavailable, match="'g' has 200 different values, and 100 are the most"):
        confusion(samples, by="g")
    with pytest.raises(ConfigurationError, match=r"no column 'subst'. Did you mean 'subset'"):
        confusion(samples, by="subst")
    with pytest.raises(ConfigurationError, match="`top >= 1` must hold, but got top=0"):
        confusion(samples).most_confused(0)
    assert isinstance(confusion(samples), ConfusionCounts)
