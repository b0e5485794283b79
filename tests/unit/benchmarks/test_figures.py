"""The arithmetic behind the benchmark's table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures import (
    Bar,
    Estimate,
    Side,
    Verdict,
    median_interval,
    paired_ratios,
    ratio_interval,
    verdict,
)


def test_a_paired_ratio_treats_both_bare_times_alike() -> None:
    bare, again, captured = np.array([1.0, 4.0]), np.array([4.0, 1.0]), np.array([2.0, 2.0])
    np.testing.assert_allclose(paired_ratios(bare, again, captured), [1.0, 1.0])


def test_paired_ratios_see_through_drift_that_hits_a_whole_triple() -> None:
    drift = np.linspace(1.0, 3.0, 50)
    np.testing.assert_allclose(paired_ratios(drift, drift, 1.1 * drift), np.full(50, 1.1))


def test_the_interval_holds_the_median_and_narrows_with_more_values() -> None:
    values = np.random.default_rng(1).normal(1.05, 0.02, 2000)
    few, many = median_interval(values[:50]), median_interval(values)
    assert few.low <= few.median <= few.high
    assert many.high - many.low < few.high - few.low


def test_the_interval_covers_the_true_median_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(2)
    hits = 0
    for seed in range(200):
        interval = median_interval(generator.normal(1.0, 0.1, 60), resamples=400, seed=seed)
        hits += interval.low <= 1.0 <= interval.high
    assert hits >= 180


def test_a_few_wild_steps_do_not_move_the_figure() -> None:
    values = np.full(500, 1.02)
    values[::50] = 40.0
    assert median_interval(values).median == pytest.approx(1.02)


def test_no_values_have_no_median() -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        median_interval(np.array([]))


def test_a_ratio_of_unpaired_samples_is_that_of_their_medians() -> None:
    estimate = ratio_interval(np.array([9.0, 10.0, 11.0]), np.array([2.0, 2.0, 2.0]))
    assert estimate.median == 5.0
    assert 4.5 <= estimate.low <= estimate.high <= 5.5


@pytest.mark.parametrize(
    ("estimate", "bar", "expected"),
    [
        (Estimate(1.05, 1.04, 1.06), Bar(1.08), Verdict.MET),
        (Estimate(1.05, 1.04, 1.09), Bar(1.08), Verdict.MET),
        (Estimate(1.09, 1.07, 1.11), Bar(1.08), Verdict.WITHIN_NOISE),
        (Estimate(1.09, 1.081, 1.11), Bar(1.08), Verdict.MISSED),
        (Estimate(0.50, 0.40, 0.60), Bar(0.45, Side.AT_LEAST), Verdict.MET),
        (Estimate(0.44, 0.40, 0.46), Bar(0.45, Side.AT_LEAST), Verdict.WITHIN_NOISE),
        (Estimate(0.40, 0.38, 0.44), Bar(0.45, Side.AT_LEAST), Verdict.MISSED),
        (Estimate(9.0, 9.0, 9.0), None, Verdict.NO_BAR),
    ],
)
def test_a_bar_is_missed_only_when_the_whole_interval_lies_beyond_it(
    estimate: Estimate, bar: Bar | None, expected: Verdict
) -> None:
    assert verdict(estimate, bar) is expected
