"""Comparing two models: counts, joins and the statistics behind them, and samples of every odd kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

from cutaway.analysis.comparing import compare_samples
from cutaway.analysis.comparing.paired import adjusted, flips_test, paired_interval, signed_rank_test
from cutaway.analysis.comparing.slicing import conditions
from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def answered(labels: list[int], predictions: list[int], columns: dict[str, Any] | None = None) -> Samples:
    chances = np.full((len(labels), 3), 0.1, np.float32)
    chances[np.arange(len(labels)), predictions] = 0.8
    return Samples.from_arrays(np.zeros((len(labels), 2), np.float32), labels, chances, columns)


def losses(values: list[float], columns: dict[str, Any] | None = None) -> Samples:
    return Samples.from_arrays(np.zeros((len(values), 1)), None, None, {"loss": values, **(columns or {})})


def test_flips_are_counted_and_listed_the_worst_first() -> None:
    labels = [0, 0, 1, 1, 2, 2]
    found = compare_samples(answered(labels, [0, 0, 0, 1, 0, 0]), answered(labels, [0, 1, 1, 1, 0, 1]))
    assert found.counts == {"both right": 2, "worse": 1, "better": 1, "both wrong": 2, "changed": 1}
    assert found.accuracy is not None
    assert (found.accuracy.before, found.accuracy.after, found.accuracy.p) == (0.5, 0.5, 1.0)
    rows = found.table.to_pylist()
    assert [(row["sample"], row["flip"], row["before"], row["after"]) for row in rows] == [
        ("1", "worse", "0", "1"), ("2", "better", "0", "1"),
    ]  # fmt: skip
    assert rows[0]["score"] == pytest.approx(0.7)
    assert rows[0]["loss_change"] == pytest.approx(np.log(8), rel=1e-4)
    assert found.regions is None


def test_a_model_compared_with_itself_has_no_flips() -> None:
    samples = answered([0, 1, 2] * 50, [0, 1, 1] * 50)
    found = compare_samples(samples, samples)
    assert len(found.table) == 0
    assert found.loss is not None
    assert (found.loss.change, found.loss.p, found.slices.num_rows) == (0.0, 1.0, 0)


def test_samples_are_joined_by_id_in_any_order_and_the_others_are_counted() -> None:
    first = answered([0, 1, 2], [0, 1, 2], {"sample": ["a", "b", "c"]})
    second = answered([2, 1, 0], [2, 0, 0], {"sample": ["c", "b", "d"]})
    found = compare_samples(first, second, positions=np.array([[0.0, 0], [1, 2], [3, 4]]))
    assert found.count == 2
    assert "2 samples are in both; left out are 1 only in 'before' and 1 only in 'after'." in found.notes
    row = found.table.to_pylist()[0]
    assert (row["sample"], row["x"], row["y"]) == ("b", 1.0, 2.0)


def test_samples_of_other_content_are_left_out() -> None:
    samples = answered([0, 1, 2], [0, 1, 2])
    one, other = (
        Samples(samples.table, samples.latents, samples.classes, samples.probabilities, None, hashes)
        for hashes in (("x", "y", None), ("x", "z", "w"))
    )
    found = compare_samples(one, other)
    assert found.count == 2
    assert any("their content is not" in note for note in found.notes)


def test_both_are_judged_by_the_labels_of_the_second_and_it_is_said() -> None:
    found = compare_samples(answered([0, 1], [0, 0]), answered([0, 0], [0, 0]))
    assert found.counts is not None
    assert found.counts["both right"] == 2
    assert any("judged by the label in 'after'" in note for note in found.notes)


def test_classes_without_a_name_in_common_are_refused() -> None:
    one = Samples.from_arrays(np.zeros((2, 1)), ["a", "b"], np.eye(2))
    other = Samples.from_arrays(np.zeros((2, 1)), ["x", "y"], np.eye(2))
    with pytest.raises(AnalysisUnavailable, match="no name in common"):
        compare_samples(one, other)


def test_failed_samples_are_told_and_no_flips() -> None:
    chances = np.array([[0.9, 0.1], [np.nan, np.nan]], np.float32)
    second = Samples.from_arrays(np.zeros((2, 1)), [0, 1], chances)
    first = Samples.from_arrays(np.zeros((2, 1)), [0, 1], np.eye(2))
    found = compare_samples(first, second)
    assert len(found.table) == 0
    assert "Flips leave out 1 sample that 'after' failed on." in found.notes


def test_regression_is_compared_by_loss_and_says_why() -> None:
    chance = np.random.default_rng(0)
    before = chance.gamma(1.0, size=400)
    old = np.arange(400) % 4 == 0
    after = before * np.where(old, 1.5, 1.0) + chance.normal(0, 0.01, 400)
    columns = {"metadata.age": np.where(old, "old", "new").tolist()}
    found = compare_samples(losses(before.tolist(), columns), losses(after.tolist(), columns))
    assert found.counts is None
    assert found.accuracy is None
    assert found.loss is not None
    assert found.loss.low > 0
    assert found.slices["slice"][0].as_py() == "metadata.age = old"
    assert found.slices["found"].to_pylist() == [True, False]
    assert any(note.startswith("No flips") for note in found.notes)
    assert found.table["score"][0].as_py() == found.table["loss_change"][0].as_py()


def test_slices_are_conditions_that_the_filters_read_back() -> None:
    chance = np.random.default_rng(1)
    labels = chance.integers(0, 3, 800)
    columns = {
        "metadata.size": chance.normal(size=800).tolist(),
        "metadata.kind": chance.choice(["a b", "c"], 800).tolist(),
        "metadata.on": (chance.random(800) < 0.5).tolist(),
        "metric.iou": chance.random(800).tolist(),
    }
    samples = [answered(labels.tolist(), chance.integers(0, 3, 800).tolist(), columns) for _ in range(2)]
    found = compare_samples(*samples)
    assert set(found.slices["column"].to_pylist()) == {"label", "metadata.size", "metadata.kind", "metadata.on"}
    for row in found.slices.to_pylist():
        assert rows_where(samples[1].table, [parse_filter(row["slice"], samples[1].table)]).sum() == row["count"]
        assert row["low"] <= row["change"] <= row["high"]


def test_the_ends_of_a_range_have_no_more_digits_than_it_takes() -> None:
    chance = np.random.default_rng(1)
    sizes = chance.normal(size=800)
    for kind in (np.float64, np.float32):
        table = pa.table({"metadata.size": sizes.astype(kind)})
        found = list(conditions(table, 10))
        assert len(found) > 10
        for one in found:
            assert np.array_equal(rows_where(table, [parse_filter(one.text, table)]), one.rows)
            assert max(len(word.strip("-0.")) for word in one.text.split()[2:]) <= 6


def test_a_range_holds_the_same_rows_whatever_else_is_in_its_column() -> None:
    chance = np.random.default_rng(2)
    odd = chance.normal(size=400)
    odd[:40], odd[40:50], odd[50:60] = np.nan, np.inf, -np.inf
    tied = np.where(np.arange(400) < 300, 1.5, chance.normal(size=400))
    whole = chance.integers(-50, 50, 400)
    table = pa.table({"metadata.odd": odd, "metadata.tied": tied, "metadata.whole": whole})
    found = list(conditions(table, 4))
    assert {one.column for one in found} == set(table.column_names)
    for one in found:
        assert np.array_equal(rows_where(table, [parse_filter(one.text, table)]), one.rows)


class TestSubsets:
    """Accuracy never mixes training with what was held out, unless somebody asks for that."""

    # Of 100 training samples the first model has 40 right, the second all; of 20 of validation both have 10 right.
    SUBSET = ["training"] * 100 + ["validation"] * 20 + ["test"] * 10
    BEFORE = [0] * 40 + [1] * 60 + [0] * 10 + [1] * 10 + [0] * 10
    AFTER = [0] * 100 + [1] * 4 + [0] * 10 + [1] * 6 + [0] * 10

    def pair(self) -> tuple[Samples, Samples]:
        labels = [0] * 130
        return tuple(answered(labels, side, {"subset": self.SUBSET}) for side in (self.BEFORE, self.AFTER))  # type: ignore[return-value]

    def test_held_out_samples_are_compared_and_training_is_left_out(self) -> None:
        found = compare_samples(*self.pair())
        assert (found.subsets, found.count) == (("validation", "test"), 30)
        assert found.counts == {"both right": 16, "worse": 4, "better": 4, "both wrong": 6, "changed": 0}
        assert found.accuracy is not None
        assert (found.accuracy.before, found.accuracy.after) == (20 / 30, 20 / 30)
        assert set(found.table["subset"].to_pylist()) == {"validation"}
        assert "100 training samples, which inflate accuracy, are left out." in found.notes
        assert found.words[0].startswith("accuracy on validation and test 0.6667 before, 0.6667 after: +0.0000 [")

    def test_each_subset_is_also_told_by_itself(self) -> None:
        found = compare_samples(*self.pair())
        assert any(line.startswith("accuracy on training alone 0.4000 before, 1.0000 after") for line in found.words)
        assert any(line.startswith("accuracy on validation alone 0.5000 before, 0.5000 after") for line in found.words)

    def test_what_is_asked_for_is_compared_together(self) -> None:
        found = compare_samples(*self.pair(), subsets=("training", "validation"))
        assert (found.subsets, found.count) == (("training", "validation"), 120)
        assert found.accuracy is not None
        assert (found.accuracy.before, found.accuracy.after) == (50 / 120, 110 / 120)
        assert found.notes == ("10 samples of test are left out.",)

    def test_where_nothing_is_held_out_training_is_compared(self) -> None:
        one = answered([0, 1], [0, 1], {"subset": ["training"] * 2})
        assert compare_samples(one, one).subsets == ("training",)

    def test_a_subset_that_there_is_not_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="subset"):
            compare_samples(*self.pair(), subsets=["validatoin"])

    def test_a_slice_is_a_share_of_the_samples_that_both_answered(self) -> None:
        # Of 40 of validation 10 have no label; of the others 12 are big, of which 8 flipped.
        labels = ["a"] * 30 + [None] * 10
        size = ["big"] * 12 + ["small"] * 18 + ["big"] * 10
        ids = [f"validation/{place}" for place in range(40)]
        columns = {"sample": ids, "subset": ["validation"] * 40, "metadata.size": size, "label": labels}
        sides = [
            Samples(pa.table({**columns, "prediction": side}), np.zeros((40, 2), np.float32))
            for side in (["a"] * 40, ["b"] * 8 + ["a"] * 32)
        ]
        found = compare_samples(*sides)
        [row] = [one for one in found.slices.to_pylist() if one["slice"] == "metadata.size = big"]
        assert (row["count"], row["worse"], row["share"]) == (12, 8, pytest.approx(12 / 30))
        assert (row["before"], row["after"]) == (1.0, pytest.approx(4 / 12))

    def test_a_p_value_is_never_none_at_all(self) -> None:
        # All of 200 flip for the better: p is about 1e-60.
        found = compare_samples(answered([0] * 200, [1] * 200), answered([0] * 200, [0] * 200))
        assert found.words[0].endswith("p < 0.001")


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(AnalysisUnavailable, match="have the same id"):
        compare_samples(answered([0], [0]), answered([0], [0], {"sample": ["other"]}))
    with pytest.raises(AnalysisUnavailable, match="or a finite loss"):
        compare_samples(losses([np.nan]), losses([1.0]))
    with pytest.raises(ConfigurationError, match="min_share"):
        compare_samples(answered([0], [0]), answered([0], [0]), min_share=2)
    with pytest.raises(ConfigurationError, match="positions"):
        compare_samples(answered([0], [0]), answered([0], [0]), positions=np.zeros(3))


@pytest.mark.parametrize(("worse", "better"), [(0, 0), (1, 0), (3, 9), (20, 4), (40, 40)])
def test_the_flips_test_is_the_exact_binomial_one(worse: int, better: int) -> None:
    expected = binomtest(worse, worse + better).pvalue if worse + better else 1.0
    assert float(flips_test(worse, better)) == pytest.approx(expected)


def test_the_paired_interval_agrees_with_newcombes_own_example() -> None:
    low, high = paired_interval(36, 12, 2, 0)
    assert (float(-high), float(-low)) == pytest.approx((0.0569, 0.3404), abs=2e-4)


def test_the_paired_interval_holds_the_difference_as_often_as_it_says() -> None:
    chance = np.random.default_rng(0)
    counts = chance.multinomial(200, [0.8, 0.06, 0.04, 0.1], 2_000).T
    low, high = paired_interval(*counts)
    assert 0.93 <= ((low <= -0.02) & (high >= -0.02)).mean() <= 0.97


def test_no_change_is_no_evidence() -> None:
    assert signed_rank_test(np.zeros(10)) == 1.0
    assert len(adjusted([])) == 0
