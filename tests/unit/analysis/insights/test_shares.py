"""Every count, share, mean and difference of an insight, against tables that were counted by hand.

The population of these tests has 400 training samples and 100 validation samples, unless a test says otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.insights import Insight, find_insights
from cutaway.analysis.insights.columns import Region, described
from cutaway.analysis.insights.explaining import explaining_columns
from cutaway.analysis.insights.judging import judged
from cutaway.analysis.insights.overfitting import overfitted_regions
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from tests.analysis.insight_populations import no_neighbours

TRAINING, VALIDATION = 400, 100


def samples(**columns: Any) -> Samples:
    """Return the population; columns are given for training first."""
    subset = ["training"] * TRAINING + ["validation"] * VALIDATION
    places = [*range(TRAINING), *range(VALIDATION)]
    ids = [f"{name}/{place}" for name, place in zip(subset, places, strict=True)]
    return Samples(pa.table({"sample": ids, "subset": subset, **columns}), np.zeros((len(subset), 2), np.float32))


def ranked(ids: list[str], score: float = 0.9, **more: Any) -> Ranked:
    return Ranked(pa.table({"sample": ids, "score": [score] * len(ids), "reason": ["why"] * len(ids), **more}))


def named(subset: str, *places: int) -> list[str]:
    return [f"{subset}/{place}" for place in places]


def told(given: Samples, kind: str, **tables: Ranked) -> Insight:
    (found,) = find_insights(given, no_neighbours(given), ranked=tables).of(kind)
    return found


class TestSharesOfSubsets:
    """`share` is of the samples of the subsets that `subset` names, and the words say the same figure."""

    def test_all_of_validation_is_the_whole_of_it_and_not_its_part_of_everything(self) -> None:
        given = samples(**{"metadata.light": [0.0] * 200 + [1.0] * 200 + [1.0] * 100})
        found = told(given, "domain-gap")
        assert (found.count, found.subset, found.share) == (100, "validation", 1.0)

    def test_samples_of_validation_are_a_share_of_validation(self) -> None:
        found = told(samples(), "out-of-distribution", outliers=ranked(named("validation", *range(8))))
        assert (found.count, found.subset) == (8, "validation")
        assert found.share == pytest.approx(8 / 100)
        assert found.severity == pytest.approx(5 * 8 / 100)
        assert found.words.startswith("8 of 100 samples of validation (8.0 %) lie far from all others")

    def test_samples_of_both_subsets_are_a_share_of_both(self) -> None:
        ids = named("training", *range(10)) + named("validation", *range(5))
        found = told(samples(), "ambiguous", ambiguous=ranked(ids))
        assert (found.count, found.subset) == (15, "training and validation")
        assert found.share == pytest.approx(15 / 500)
        assert found.words.startswith("15 of 500 samples of training and validation (3.0 %) lie between classes")

    def test_copies_within_training_are_a_share_of_training(self) -> None:
        about: dict[str, Any] = {
            "kind": ["exact"] * 3 + ["near"] * 5,
            "subset": ["training"] * 8,
            "other_subset": ["training"] * 8,
        }
        table = ranked(named("training", *range(8)), other=named("training", *range(8, 16)), **about)
        found = told(samples(), "duplication", duplicates=table)
        assert (found.count, found.subset, found.share) == (8, "training", 8 / 400)
        assert found.words == "8 of 400 samples of training (2.0 %) repeat another one of the same subset (3 exactly)."
        assert found.buys.startswith("2.0 % fewer samples of training")

    def test_leaks_are_a_share_of_the_subset_that_they_spoil(self) -> None:
        about: dict[str, Any] = {
            "kind": ["near"] * 20,
            "subset": ["validation"] * 20,
            "other_subset": ["training"] * 20,
        }
        table = ranked(named("validation", *range(20)), other=named("training", *range(20)), **about)
        found = told(samples(), "data-leakage", leakage=table)
        assert (found.count, found.subset, found.share) == (20, "validation", 20 / 100)
        assert found.words == "20 of 100 samples of validation (20 %) are also in training, or nearly so."

    def test_wrong_labels_are_a_share_of_the_labels_and_a_sample_without_one_has_none_to_be_wrong(self) -> None:
        # Of validation 60 have a label; 6 of them are suspected, each with a probability of 0.9.
        given = samples(label=["a"] * TRAINING + ["b"] * 60 + [None] * 40)
        found = told(given, "mislabeled-samples", mislabeled=ranked(named("validation", *range(6))))
        assert (found.count, found.subset) == (6, "validation")
        assert found.share == pytest.approx(6 / 60)
        assert found.inside == pytest.approx(6 * 0.9 / 60)
        assert found.severity == pytest.approx(5 * 6 * 0.9 / 60)
        assert "(9.0 % of 60 labels of validation)" in found.words

    def test_the_value_that_holds_most_is_counted_in_those_subsets_alone(self) -> None:
        # At night there are 10 samples of validation, of which 8 are strangers, and 100 of training, of which none is.
        night = ["night"] * 100 + ["day"] * 300 + ["night"] * 10 + ["day"] * 90
        given = samples(**{"metadata.time": night})
        found = told(given, "out-of-distribution", outliers=ranked(named("validation", *range(8))))
        assert "most of all where metadata.time = night (8 of 10)" in found.words


class TestSlices:
    # Of validation 20 are at night, of which 15 are wrong; of the 70 by day 7 are; 10 have no label.
    NIGHT = ["night"] * 80 + ["day"] * 320 + ["night"] * 20 + ["day"] * 80
    CORRECT = [True] * 390 + [False] * 10 + [False] * 15 + [True] * 5 + [False] * 7 + [True] * 63 + [None] * 10

    def found(self) -> Insight:
        given = samples(**{"metadata.time": self.NIGHT, "correct": self.CORRECT, "label": ["a"] * 490 + [None] * 10})
        return told(given, "low-performance")

    def test_its_share_is_of_the_validation_samples_with_an_answer_and_training_plays_no_part(self) -> None:
        found = self.found()
        assert found.where == ("metadata.time = night",)
        assert (found.count, found.subset) == (20, "validation")
        assert found.share == pytest.approx(20 / 90)

    def test_its_means_are_those_inside_and_outside(self) -> None:
        found = self.found()
        assert (found.inside, found.outside) == pytest.approx((15 / 20, 7 / 70))
        assert found.is_share
        assert found.sides == ("these", "elsewhere")
        assert found.effect == pytest.approx(15 / 20 - 7 / 70)
        assert found.words == (
            "metadata.time = night: error 75 % on 20 samples of validation, 10 % elsewhere (7.5 times as high)."
        )

    def test_what_is_at_stake_is_the_errors_that_would_be_gone_of_all_errors(self) -> None:
        assert self.found().severity == pytest.approx((15 - 20 * 7 / 70) / 22)

    def test_what_it_buys_at_most_is_the_error_of_the_rest_for_all(self) -> None:
        assert self.found().buys.startswith("At most, overall error falls from 24 % to 10 % (")

    def test_the_action_says_how_many_training_already_has(self) -> None:
        # 80 of 400 is 20 % of training, next to 22 % of validation: no lack.
        assert self.found().action == (
            "Training already has 80 such samples, but the model still struggles: collect or augment more."
        )

    def test_the_action_says_how_many_training_lacks(self) -> None:
        time = ["night"] * 8 + ["day"] * 392 + ["night"] * 20 + ["day"] * 80
        given = samples(**{"metadata.time": time, "correct": self.CORRECT})
        # With x more, (8 + x) / (400 + x) is 20 / 90 at x = (20 / 90 * 400 - 8) / (70 / 90) = 104.
        assert told(given, "low-performance").action == (
            "Balance: 2.0 % of training is like this, but 22 % of validation. Collect about 104 more, or give the 8 in "
            "training more weight."
        )

    def test_what_training_has_none_of_cannot_be_given_more_weight(self) -> None:
        given = samples(**{"metadata.time": ["day"] * 400 + ["night"] * 20 + ["day"] * 80, "correct": self.CORRECT})
        assert told(given, "low-performance").action == (
            "Balance: 0 % of training is like this, but 22 % of validation. Collect about 114 more."
        )


class TestOverfitting:
    def test_the_whole_has_both_means_and_all_of_validation(self) -> None:
        # Of training 4 are wrong, of validation 30.
        given = samples(correct=[False] * 4 + [True] * 396 + [False] * 30 + [True] * 70)
        found = told(given, "overfitting")
        assert (found.count, found.subset, found.share) == (100, "validation", 1.0)
        assert (found.inside, found.outside) == pytest.approx((0.30, 0.01))
        assert found.sides == ("held out", "training")
        assert found.words == (
            "The model does better on its training samples: error 1.0 % on training, 30 % on validation."
        )
        assert found.buys == "At most, error falls from 30 % to 1.0 %."

    def test_a_region_is_told_whole_also_where_it_overlaps_with_one_before(self) -> None:
        # Validation: 34 in A (26 wrong), 34 in B (20 wrong), of which 2 are in A too (both wrong); 34 in neither.
        # Training: 160 in A (none wrong), 160 in B, 8 of them in A too (none wrong); 88 in neither (8 wrong).
        a = np.array([True] * 160 + [False] * 240 + [True] * 34 + [False] * 66)
        b = np.array([False] * 152 + [True] * 160 + [False] * 88 + [False] * 32 + [True] * 34 + [False] * 34)
        held_wrong = [False] * 8 + [True] * 26 + [True] * 18 + [False] * 48
        wrong = [False] * 312 + [True] * 8 + [False] * 80 + held_wrong
        given = samples(correct=[not one for one in wrong])
        by, _ = judged(given)
        assert by is not None
        regions = [Region("A", a, ("x = A",)), Region("B", b, ("x = B",))]
        first, second = overfitted_regions(given, by, regions)
        assert [one.where for one in (first, second)] == [("x = A",), ("x = B",)]
        for found, count in ((first, 26), (second, 20)):
            assert found.count == 34
            assert found.share == pytest.approx(34 / 100)
            assert (found.inside, found.outside) == pytest.approx((count / 34, 0.0))
            assert found.low < found.effect < found.high
        assert first.words.startswith(
            "A is memorised: error 0 % on its 160 training samples, 76 % on 34 of validation "
        )
        # Elsewhere than A 18 of 66 validation samples are wrong and 8 of 240 training samples.
        assert first.evidence["beyond"] == pytest.approx(26 / 34 - (18 / 66 - 8 / 240))
        assert "(elsewhere 3.3 % and 27 %)" in first.words


class TestColumnsThatExplainTheLoss:
    def test_the_ends_are_means_of_judged_samples_and_the_share_is_of_these(self) -> None:
        # Of validation 50 are of kind "a" with a loss of 1 or 1.2, 50 of "b" with 3 or 3.2; training is far off.
        losses = [50.0, 60.0] * 200 + [1.0, 1.2] * 25 + [3.0, 3.2] * 25
        given = samples(**{"metadata.kind": ["a", "b"] * 200 + ["a"] * 50 + ["b"] * 50, "loss": losses})
        by, _ = judged(given)
        column = described(given, "metadata.kind")
        assert by is not None
        assert column is not None
        (found,) = explaining_columns(given, by, [column])
        assert (found.count, found.subset, found.share) == (50, "validation", 0.5)
        assert (found.inside, found.outside) == pytest.approx((3.1, 1.1))
        assert found.sides == ("worse end", "better end")
        assert not found.is_share
        assert found.words.startswith("Loss depends on metadata.kind: 3.1 for b, 1.1 for a (validation; explains ")


class TestDomainGaps:
    def test_a_value_has_its_share_in_both_subsets_of_those_that_have_one(self) -> None:
        # Training: 100 of 300 are at night; validation: 60 of 80. The others have no value.
        time = ["night"] * 100 + ["day"] * 200 + [None] * 100 + ["night"] * 60 + ["day"] * 20 + [None] * 20
        found = told(samples(**{"metadata.time": time}), "domain-gap")
        assert (found.inside, found.outside) == pytest.approx((60 / 80, 100 / 300))
        assert found.is_share
        assert found.measure in ("metadata.time = night", "metadata.time = day")
        assert found.sides == ("validation", "training")
        assert "75 % against 33 % (distance 0.42)" in found.words
        # The distance times those of training that have a value: 300 * (60 / 80 - 100 / 300).
        assert "of 300 samples there, about 125 are of kinds that are too common" in found.action

    def test_a_number_has_its_median_in_both(self) -> None:
        light = [1.0, 2.0, 3.0, 4.0] * 100 + [11.0, 12.0, 13.0, 14.0] * 25
        values = [value + place * 1e-6 for place, value in enumerate(light)]
        found = told(samples(**{"metadata.light": values}), "domain-gap")
        assert (found.inside, found.outside) == pytest.approx((12.5, 2.5), abs=0.01)
        assert found.measure == "median metadata.light"
        assert not found.is_share
        assert found.severity == 1.0
