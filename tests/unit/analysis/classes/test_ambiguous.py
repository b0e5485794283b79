from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutaway.analysis.classes.ambiguous import find_ambiguous
from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import Nearest, nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def two_crowds(seed: int = 0) -> tuple[Any, Any]:
    """Two far crowds of 50, and in the last row a sample half way between."""
    chance = np.random.default_rng(seed)
    labels = np.array([0] * 50 + [1] * 50 + [0])
    vectors = chance.normal(size=(101, 4)) + 20 * labels[:, None]
    vectors[100] = 10
    return vectors.astype(np.float32), labels


def found(samples: Samples, **about: Any) -> Ranked:
    return find_ambiguous(samples, nearest_of(samples, lambda: build_index(samples.latents)), **about)


def test_a_sample_half_way_is_told_with_its_two_classes() -> None:
    vectors, labels = two_crowds()
    result = found(Samples.from_arrays(vectors, ["cat" if one else "dog" for one in labels]))
    rows = result.table.to_pylist()
    assert [row["sample"] for row in rows] == ["100"]
    assert set(rows[0]["between"].split(" and ")) == {"cat", "dog"}
    assert rows[0]["entropy"] is None
    assert result.notes == ("What was looked at: the labels of neighbours and the distances to class centres.",)
    assert result.words[0] == "1 of 101 samples lies between two classes."


def test_a_wrong_label_within_another_class_is_not_ambiguous() -> None:
    vectors, labels = two_crowds()
    labels[3] = 1
    learnt_by_heart = np.where(labels[:, None] == [0, 1], 0.98, 0.02).astype(np.float32)
    columns = {"subset": ["training"] * 101}
    table = found(Samples.from_arrays(vectors, labels, learnt_by_heart, columns)).table
    assert "3" not in table["sample"].to_pylist()


def test_a_held_out_sample_on_which_model_and_neighbours_disagree_is_ambiguous() -> None:
    vectors, labels = two_crowds()
    chances = np.where(labels[:, None] == [0, 1], 0.98, 0.02).astype(np.float32)
    chances[3] = chances[3, ::-1]
    table = found(Samples.from_arrays(vectors, labels, chances, {"subset": ["test"] * 101})).table
    told = {row["sample"]: row for row in table.to_pylist()}
    assert "each is sure of another class" in told["3"]["reason"]


def test_nothing_between_classes_is_an_empty_table_that_says_so() -> None:
    vectors, labels = two_crowds()
    result = found(Samples.from_arrays(vectors[:100], labels[:100]))
    assert len(result) == 0
    assert result.words == ("None of 100 samples lies between two classes.",)
    assert result.table.column_names[:8] == [
        "sample", "score", "reason", "between", "share", "other_share", "entropy", "neighbour_entropy",
    ]  # fmt: skip


def test_without_labels_predictions_and_probabilities_say_it() -> None:
    vectors, labels = two_crowds()
    chances = np.where(labels[:, None] == [0, 1], 0.95, 0.05).astype(np.float32)
    chances[100] = [0.5, 0.5]
    result = found(Samples.from_arrays(vectors, None, chances, {"subset": ["unlabeled"] * 101}))
    assert result.table["sample"].to_pylist() == ["100"]
    assert result.table["entropy"][0].as_py() == pytest.approx(1.0)
    assert "predictions of neighbours and the model's probabilities" in result.notes[0]


def test_probabilities_are_enough_where_no_latent_vector_is_finite() -> None:
    chances = np.array([[0.5, 0.5], [0.9, 0.1], [np.nan, np.nan]], np.float32)
    result = found(Samples.from_arrays(np.full((3, 2), np.nan), None, chances))
    assert result.table["sample"].to_pylist() == ["0"]
    assert result.table["neighbour_entropy"].to_pylist() == [None]
    assert "1 of 3 samples are left out" in result.notes[-1]


@pytest.mark.parametrize("labels", [["a"] * 20, None])
def test_one_class_or_none_is_a_reason(labels: list[str] | None) -> None:
    samples = Samples.from_arrays(np.random.default_rng(0).normal(size=(20, 3)), labels)
    with pytest.raises(AnalysisUnavailable, match=r"one class only|no sample has a label"):
        found(samples)


def test_one_sample_of_two_classes_lies_between_none() -> None:
    samples = Samples.from_arrays(np.ones((1, 2)), None, np.array([[0.9, 0.1]], np.float32))
    assert len(found(samples)) == 0


def test_all_equal_samples_of_two_classes_are_between_them() -> None:
    samples = Samples.from_arrays(np.ones((40, 3)), [0, 1] * 20)
    assert len(found(samples)) == 40


def test_as_many_classes_as_samples_are_no_trouble() -> None:
    chance = np.random.default_rng(0)
    count = 3000
    samples = Samples.from_arrays(chance.normal(size=(count, 2)), chance.permutation(count))
    nearest = Nearest(chance.integers(0, count, (count, 20)), np.ones((count, 20), np.float32))
    assert len(find_ambiguous(samples, nearest)) > 0


def test_wrong_arguments_say_what_must_hold() -> None:
    vectors, labels = two_crowds()
    with pytest.raises(ConfigurationError, match="0 < least <= 1"):
        found(Samples.from_arrays(vectors, labels), least=0)
