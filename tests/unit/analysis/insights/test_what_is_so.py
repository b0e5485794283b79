"""What was said of data of strangers and is not so: each on made data that gave it, with a twin where it is so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.insights import Insights, find_insights
from cutaway.analysis.insights.advice import lacks_samples
from cutaway.analysis.insights.columns import described
from cutaway.analysis.insights.wording import change, told
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from tests.analysis.insight_populations import Made, made, no_neighbours


def insights_of(planted: Made) -> Insights:
    samples = planted.samples()
    return find_insights(samples, no_neighbours(samples), clusters=np.full(len(samples), -1))


def with_slice(planted: Made, share: float = 0.08) -> np.ndarray:
    """Add a column whose value `d` a share of the samples has, and return which."""
    planted.columns["metadata.camera"] = planted.rng.choice(
        list("abcd"), len(planted.label), p=[*[(1 - share) / 3] * 3, share]
    )
    return np.asarray(planted.columns["metadata.camera"] == "d")


class TestOrder:
    def test_a_slice_that_can_be_mended_comes_before_classes_that_are_simply_hard(self) -> None:
        planted = made(1, count=5000, columns=2, error=0.12)
        planted.chance[np.isin(planted.label, (1, 3))] = 0.3
        planted.chance[with_slice(planted)] += 0.25
        found = insights_of(planted)
        assert found[0].where == ("metadata.camera = d",)
        classes = [one for one in found.of("low-performance") if one.where[0].startswith("label = ")]
        assert classes
        assert all(one.severity < found[0].severity for one in classes)

    def test_a_column_that_goes_with_a_hard_class_is_not_blamed_for_it(self) -> None:
        planted = made(1, count=4000, columns=1)
        planted.chance[planted.label == 2] = 0.4
        planted.columns["metadata.ink"] = planted.label == 2
        planted.columns["metadata.ink"] ^= planted.rng.random(4000) < 0.1
        assert [one.where for one in insights_of(planted).of("low-performance")] == [("label = 2",)]

    def test_what_only_explains_comes_last(self) -> None:
        planted = made(2, columns=4)
        values = planted.columns["metadata.m3"]
        planted.loss = lambda rng, wrong: np.exp(0.5 * values) * rng.lognormal(0, 1, len(wrong))
        samples = planted.samples()
        outliers = Ranked(pa.table({"sample": samples.ids[:4], "score": [0.9] * 4, "reason": ["why"] * 4}))
        found = find_insights(samples, no_neighbours(samples), ranked={"outliers": outliers})
        assert [one.kind for one in found] == ["out-of-distribution", "metadata-explains-loss"]
        assert found[0].severity < found[1].severity

    def test_a_column_that_explains_only_what_its_slice_says_is_not_told_again(self) -> None:
        planted = made(3, count=4000, columns=2)
        planted.chance[with_slice(planted)] = 0.5
        found = insights_of(planted)
        assert found.of("low-performance")
        assert not found.of("metadata-explains-loss")


class TestBalance:
    def test_2_percent_of_training_and_2_7_percent_of_validation_are_a_random_split(self) -> None:
        assert not lacks_samples(240, 12_000, 54, 2_000, claims=1)

    def test_half_a_percent_of_training_is_too_few(self) -> None:
        assert lacks_samples(60, 12_000, 54, 2_000, claims=1)

    def test_what_is_said_of_many_slices_must_be_surer(self) -> None:
        assert lacks_samples(185, 12_000, 54, 2_000, claims=1)
        assert not lacks_samples(185, 12_000, 54, 2_000, claims=50)

    @pytest.mark.parametrize(("has", "balance"), [(75, False), (12, True)])
    def test_an_insight_asks_for_balance_only_where_that_is_no_chance(self, has: int, balance: bool) -> None:
        planted = made(4, count=5000, columns=1)
        training, held = (np.flatnonzero(planted.training == side) for side in (True, False))
        camera = np.full(5000, "a")
        camera[training[:has]] = camera[held[:68]] = "d"
        planted.columns["metadata.camera"] = camera
        planted.chance[camera == "d"] = 0.7
        (best,) = insights_of(planted).of("low-performance")
        assert best.action.startswith("Balance") == balance


class TestLearnedByHeart:
    @staticmethod
    def regions(trained: float, held: float) -> list[tuple[str, ...]]:
        planted = made(5, count=6000, columns=1, error=0.08)
        planted.chance[planted.training] = 0.04
        camera = with_slice(planted, 0.2)
        planted.chance[camera & planted.training] = trained
        planted.chance[camera & ~planted.training] = held
        return [one.where for one in insights_of(planted).of("overfitting") if one.where]

    def test_a_region_that_is_hard_on_both_sides_has_a_larger_gap_and_is_not_memorised(self) -> None:
        assert self.regions(0.22, 0.36) == []

    def test_a_region_that_is_right_in_training_alone_is(self) -> None:
        assert self.regions(0.01, 0.36) == [("metadata.camera = d",)]


class TestDomainGaps:
    @staticmethod
    def told_of(shift: float) -> tuple[str, str, str]:
        planted = made(6, count=4000, columns=1)
        camera = with_slice(planted, 0.12)
        planted.chance[camera & planted.training] = 0.25
        planted.chance[camera & ~planted.training] = 0.5
        planted.latents[camera & ~planted.training] += shift
        best = insights_of(planted)[0]
        assert best.where == ("metadata.camera = d",)
        return best.kind, best.words, best.action

    def test_a_slice_that_looks_different_in_validation_alone_is_a_domain_gap(self) -> None:
        kind, words, action = self.told_of(1.5)
        assert kind == "domain-gap"
        assert ": a domain gap." in words
        assert action.startswith("Domain gap: the ")
        assert "More of the same will not help" in action

    def test_one_that_looks_the_same_is_none(self) -> None:
        kind, words, action = self.told_of(0.0)
        assert kind == "low-performance"
        assert "domain gap" not in words.lower() + action.lower()

    def test_a_number_that_counts_the_samples_is_no_property_that_differs(self) -> None:
        planted = made(6, columns=1)
        planted.columns["metadata.row"] = np.argsort(np.argsort(~planted.training, kind="stable"))
        planted.columns["metadata.hour"] = np.where(planted.training, 1.0, 5.0) + planted.rng.random(2000)
        samples = planted.samples()
        assert described(samples, "metadata.row") is None
        (gap,) = insights_of(planted).of("domain-gap")
        assert list(gap.evidence["columns"]) == ["metadata.hour"]


class TestFigures:
    def test_two_figures_that_differ_never_read_the_same(self) -> None:
        assert told("error", 0.191, 0.194) == ["19.1 %", "19.4 %"]
        assert told("error", 0.36, 0.18) == ["36 %", "18 %"]
        assert change("error", 0.194, (0.003, 0.001, 0.005)).startswith("overall error falls from 19.40 % to 19.10 %")

    @pytest.mark.parametrize(("wrong", "words"), [(4, "stays at 20 %"), (18, "is 16 % instead of 20 %")])
    def test_what_leaks_cost_is_told_only_where_it_is_worth_a_word(self, wrong: int, words: str) -> None:
        # Of validation 20 of 400 leak, and 80 are wrong in all.
        subset = ["training"] * 100 + ["validation"] * 400
        correct = (
            [True] * 100 + [False] * wrong + [True] * (20 - wrong) + [False] * (80 - wrong) + [True] * (300 + wrong)
        )
        ids = [str(row) for row in range(500)]
        samples = Samples(
            pa.table({"sample": ids, "subset": subset, "correct": correct}), np.zeros((500, 2), np.float32)
        )
        leaks = pa.table(
            {"sample": ids[100:120], "score": [1.0] * 20, "reason": ["why"] * 20, "other": ids[:20],
             "kind": ["exact"] * 20, "subset": ["validation"] * 20, "other_subset": ["training"] * 20}
        )  # fmt: skip
        (leak,) = find_insights(samples, no_neighbours(samples), ranked={"leakage": Ranked(leaks)}).of("data-leakage")
        assert words in leak.buys
