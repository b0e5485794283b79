"""What analyses say of a whole population, counted by hand: training is never mixed with what was held out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis import AnalysisResult, Population
from cutaway.analysis.population.applicability import analysis_named
from cutaway.analysis.samples.held_out import judged_rows, judged_subsets

# Of 60 training samples of class 0 all are right, of 40 of validation 10 are predicted as 1; of 20 of test 4.
SUBSET = ["training"] * 60 + ["validation"] * 40 + ["test"] * 20
PREDICTED = [0] * 60 + [1] * 10 + [0] * 30 + [1] * 4 + [0] * 16
CAMERA = ["a"] * 60 + ["b"] * 10 + ["a"] * 30 + ["b"] * 4 + ["a"] * 16
LOSS = [9.0] * 60 + [2.0] * 10 + [1.0] * 30 + [2.0] * 4 + [1.0] * 16


@pytest.fixture
def population() -> Population:
    chances = np.full((120, 2), 0.1, np.float32)
    chances[np.arange(120), PREDICTED] = 0.9
    columns: dict[str, Any] = {"subset": SUBSET, "metadata.camera": CAMERA, "loss": LOSS}
    return Population.from_arrays(np.random.default_rng(0).normal(size=(120, 3)), [0] * 120, chances, columns)


def asked(population: Population, name: str, **options: Any) -> AnalysisResult:
    analysis = analysis_named(name)
    return analysis.answer(population, analysis.options(**options), 0, None)


class TestConfusion:
    def test_every_subset_has_its_own_counts(self, population: Population) -> None:
        part = asked(population, "confusion")
        classes = [one for one in part.tables["classes"].to_pylist() if one["class"] == "0"]
        assert [(one["subset"], one["support"], one["correct"], one["recall"]) for one in classes] == [
            ("validation", 40, 30, 0.75), ("test", 20, 16, 0.8), ("training", 60, 60, 1.0),
        ]  # fmt: skip
        wrong = part.tables["most_confused"].to_pylist()
        assert [(one["subset"], one["count"], one["share"]) for one in wrong] == [
            ("validation", 10, 0.25),
            ("test", 4, 0.2),
        ]
        assert [line.split(" [")[0] for line in part.words] == [
            "validation: accuracy 0.7500", "test: accuracy 0.8000", "training: accuracy 1.0000",
        ]  # fmt: skip
        assert list(part.figures) == ["validation", "test", "training"]

    def test_another_column_splits_what_was_held_out(self, population: Population) -> None:
        part = asked(population, "confusion", by="metadata.camera")
        classes = [one for one in part.tables["classes"].to_pylist() if one["class"] == "0"]
        assert {one["metadata.camera"]: (one["support"], one["correct"]) for one in classes} == {
            "a": (46, 46),
            "b": (14, 0),
        }

    def test_in_python_it_is_of_held_out_samples_unless_subsets_are_named(self, population: Population) -> None:
        held = population.confusion()
        assert (held.count, held.accuracy) == (60, 46 / 60)
        assert held.notes == ("60 training samples, which inflate accuracy, are left out.",)
        both = population.confusion(subsets=["training", "validation"])
        assert (both.count, both.accuracy, both.notes) == (100, 0.9, ("20 samples of test are left out.",))
        whole = population.confusion(subsets=["training", "validation", "test"])
        assert (whole.count, whole.accuracy, whole.notes) == (120, 106 / 120, ())

    def test_split_by_subset_the_whole_is_still_what_was_held_out(self, population: Population) -> None:
        found = population.confusion(by="subset")
        assert {name: part.count for name, part in found.parts.items()} == {
            "test": 20,
            "training": 60,
            "validation": 40,
        }
        assert (found.count, found.notes) == (60, ())

    def test_where_nothing_is_held_out_training_counts(self, population: Population) -> None:
        alone = population.where("subset = training").confusion()
        assert (alone.count, alone.accuracy, alone.notes) == (60, 1.0, ())


class TestCurve:
    def test_it_is_of_held_out_samples_and_says_how_many_are_left_out(self, population: Population) -> None:
        part = asked(population, "curve", x="metadata.camera")
        means = {one["value"]: (one["count"], one["mean"]) for one in part.tables["curve"].to_pylist()}
        assert means == {"a": (46, 1.0), "b": (14, 2.0)}
        assert any(note.startswith("60 samples of other subsets left out") for note in part.notes)

    def test_split_by_subset_it_has_them_all(self, population: Population) -> None:
        part = asked(population, "curve", x="metadata.camera", by="subset")
        assert "training" in part.tables["curve"].column("by").to_pylist()
        assert not any("left out" in note for note in part.notes)


class TestJudgedSamples:
    @pytest.mark.parametrize(
        ("names", "judged"),
        [
            (["training", "validation", "test", "unlabeled"], ("validation", "test")),
            (["training", "unlabeled"], ("training",)),
            (["samples"], ("samples",)),
            ([], ()),
        ],
    )
    def test_they_are_the_held_out_ones_and_training_where_there_is_nothing_else(
        self, names: list[str], judged: tuple[str, ...]
    ) -> None:
        assert judged_subsets(names) == judged

    def test_a_subset_without_any_outcome_holds_nothing_out(self) -> None:
        subsets = pa.chunked_array([["training", "training", "test", "test", None]])
        known = np.array([True, False, False, False, True])
        assert judged_rows(subsets, known).tolist() == [True, False, False, False, False]
        assert judged_rows(subsets, np.array([True, True, True, False, False])).tolist() == [
            False,
            False,
            True,
            False,
            False,
        ]
