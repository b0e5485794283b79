"""What a correction bought: known answers, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.fixing import gain_over_samples, gain_over_seeds, gain_without_interval
from cutaway.errors import AnalysisUnavailable


def test_a_clear_gain_is_called_better() -> None:
    before, after = np.arange(1000) >= 100, np.arange(1000) >= 40
    gain = gain_over_samples(before, after)
    assert (gain.before, gain.after, gain.better, gain.worse) == (0.9, 0.96, 60, 0)
    assert gain.difference == pytest.approx(0.06)
    assert gain.low is not None
    assert gain.high is not None
    assert 0.04 < gain.low < 0.06 < gain.high < 0.08
    assert gain.words.endswith("better")


def test_a_clear_loss_is_called_worse() -> None:
    gain = gain_over_samples(np.arange(1000) >= 40, np.arange(1000) >= 100)
    assert gain.is_clear
    assert gain.words.endswith("worse")


def test_nothing_changed_is_no_proof_of_nothing() -> None:
    right = np.ones(50, bool)
    gain = gain_over_samples(right, right)
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low < 0 < gain.high
    assert gain.words.endswith("points [-7.1, +7.1]: not significant")


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
    half = 4.302652729696142 * moved.std(ddof=1) / np.sqrt(3)
    assert gain.difference == pytest.approx(moved.mean())
    assert gain.low == pytest.approx(moved.mean() - half)
    assert (gain.better, gain.worse, gain.count, gain.over) == (3, 0, 3, "seeds")
    assert not gain.is_clear


def test_one_seed_and_two_bare_numbers_have_no_interval() -> None:
    for gain in (gain_over_seeds([0.9], [0.95]), gain_without_interval(0.9, 0.95)):
        assert (gain.low, gain.high, gain.is_clear) == (None, None, False)
        assert "so no interval" in gain.words


def test_what_cannot_be_paired_is_refused() -> None:
    with pytest.raises(AnalysisUnavailable):
        gain_over_samples(np.array([], bool), np.array([], bool))
    with pytest.raises(AnalysisUnavailable):
        gain_over_samples(np.ones(2, bool), np.ones(3, bool))
    with pytest.raises(AnalysisUnavailable):
        gain_over_seeds([], [])
