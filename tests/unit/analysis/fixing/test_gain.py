"""What a correction bought: known answers, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.fixing import gain_over_samples, gain_over_seeds, gain_without_interval
from cutaway.errors import AnalysisUnavailable


def test_one_training_each_gives_an_interval_over_samples_and_no_verdict() -> None:
    before, after = np.arange(1000) >= 100, np.arange(1000) >= 40
    gain = gain_over_samples(before, after)
    assert (gain.before, gain.after, gain.better, gain.worse) == (0.9, 0.96, 60, 0)
    assert gain.difference == pytest.approx(0.06)
    assert gain.low is not None
    assert gain.high is not None
    assert 0.04 < gain.low < 0.06 < gain.high < 0.08
    assert (gain.is_told, gain.is_clear, gain.verdict) == (False, False, "not enough to tell")
    assert gain.words.endswith("over samples alone: not enough to tell")


def test_a_single_training_that_lost_much_is_no_loss_for_certain_either() -> None:
    gain = gain_over_samples(np.arange(1000) >= 40, np.arange(1000) >= 400)
    assert (gain.verdict, gain.is_loss) == ("not enough to tell", False)


def test_a_gain_over_seeds_is_called_better_and_a_loss_worse() -> None:
    before, after = [0.90, 0.91, 0.92, 0.90, 0.91], [0.93, 0.94, 0.94, 0.93, 0.95]
    there, back = gain_over_seeds(before, after), gain_over_seeds(after, before)
    assert (there.verdict, there.is_loss) == ("better", False)
    assert (back.verdict, back.is_loss) == ("worse", True)
    assert there.words.endswith("]: better")


def test_seeds_that_scatter_more_than_they_gain_show_no_difference() -> None:
    gain = gain_over_seeds([0.90, 0.92, 0.91, 0.90, 0.93], [0.93, 0.90, 0.92, 0.92, 0.91])
    assert (gain.verdict, gain.is_clear) == ("no difference found", False)


def test_what_one_training_each_calls_a_gain_of_a_point_five_seeds_call_none() -> None:
    """As it was said of one training each, [+0.16, +2.05] over samples, where seeds differed by as much."""
    answers = np.arange(4000)
    single = gain_over_samples(answers >= 560, (answers >= 516) | (answers % 40 == 1))
    assert single.low is not None
    assert 0.0 < single.low < 0.011 < (single.high or 0)
    assert single.verdict == "not enough to tell"
    assert gain_over_seeds([0.8600, 0.8655, 0.8580], [0.8710, 0.8620, 0.8616]).verdict == "no difference found"


@pytest.mark.parametrize("count", [2, 3, 5, 10])
@pytest.mark.parametrize("samples", [50, 200, 2000])
def test_where_nothing_was_changed_at_most_one_verdict_in_twenty_is_false(count: int, samples: int) -> None:
    """The same training with other chances, once and once more for each seed, in steps of a sample."""
    chance = np.random.default_rng(count * samples)
    trials, false = 400, 0
    for scatter in (0.002, 0.01):
        for _ in range(trials // 2):
            shared = chance.normal(0.9, scatter, count)
            first, second = (
                np.round(np.clip(shared + chance.normal(0, scatter, count), 0, 1) * samples) / samples for _ in range(2)
            )
            false += gain_over_seeds(first.tolist(), second.tolist(), samples).verdict in ("better", "worse")
    assert false <= 0.05 * trials


def test_a_gain_of_three_times_the_scatter_is_found_with_five_seeds_in_most_trials() -> None:
    chance = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        first = chance.normal(0.9, 0.005, 5)
        second = first + 0.015 + chance.normal(0, 0.005, 5)
        found += gain_over_seeds(first.tolist(), second.tolist(), 2000).verdict == "better"
    assert found >= 180


def test_seeds_that_agree_to_the_sample_by_chance_are_no_proof() -> None:
    # Without a least scatter two seeds that each answer one sample more would be certain.
    assert gain_over_seeds([0.90, 0.92], [0.91, 0.93], 100).verdict == "no difference found"
    assert gain_over_seeds([0.90, 0.92], [0.91, 0.93]).verdict == "no difference found"


def test_trainings_that_do_not_depend_on_the_seed_are_one_training_each() -> None:
    gain = gain_over_seeds([0.9] * 5, [0.93] * 5, 1000)
    assert (gain.low, gain.verdict) == (None, "not enough to tell")
    assert gain_over_seeds([0.9] * 5, [0.9] * 5, 1000).verdict == "no difference found"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_turning_the_order_around_turns_the_sign_around(pairs: list[tuple[bool, bool]]) -> None:
    first, second = (np.array(one) for one in zip(*pairs, strict=True))
    there, back = gain_over_samples(first, second), gain_over_samples(second, first)
    assert there.difference == -back.difference
    assert (there.low, there.high) == (pytest.approx(-(back.high or 0)), pytest.approx(-(back.low or 0)))
    assert -1 <= (there.low or 0) <= (there.high or 0) <= 1


def test_the_interval_over_samples_holds_the_truth_in_at_least_95_of_100_and_is_not_much_wider() -> None:
    chance = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        shared = chance.random(300)
        before = shared < 0.90
        after = np.where(chance.random(300) < 0.15, chance.random(300) < 0.95, before)
        gain = gain_over_samples(before, after)
        held += (gain.low or 0) <= 0.15 * (0.95 - 0.90) <= (gain.high or 0)
    # Newcombe's interval holds it a little more often than it promises.
    assert 950 <= held <= 993


def test_the_interval_over_seeds_is_students() -> None:
    gain = gain_over_seeds([0.90, 0.92, 0.91], [0.93, 0.93, 0.95])
    moved = np.array([0.03, 0.01, 0.04])
    half = 6.964556734283 * moved.std(ddof=1) / np.sqrt(3)  # of 98 %
    assert gain.difference == pytest.approx(moved.mean())
    assert gain.low == pytest.approx(moved.mean() - half)
    assert (gain.better, gain.worse, gain.count, gain.over) == (3, 0, 3, "seeds")
    assert not gain.is_clear


def test_one_seed_and_two_bare_numbers_have_no_interval() -> None:
    for gain in (gain_over_seeds([0.9], [0.95]), gain_without_interval(0.9, 0.95)):
        assert (gain.low, gain.high, gain.is_clear) == (None, None, False)
        assert gain.words.endswith("points: not enough to tell")


def test_what_cannot_be_paired_is_refused() -> None:
    with pytest.raises(AnalysisUnavailable):
        gain_over_samples(np.array([], bool), np.array([], bool))
    with pytest.raises(AnalysisUnavailable):
        gain_over_samples(np.ones(2, bool), np.ones(3, bool))
    with pytest.raises(AnalysisUnavailable):
        gain_over_seeds([], [])
