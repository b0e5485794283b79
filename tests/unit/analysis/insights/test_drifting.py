"""Two sets of samples that are alike stay alike; what differs is measured."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.drifting import column_drift, latent_separation
from cutaway.analysis.neighbours.nearest import Nearest

EMPTY = np.zeros(0, np.int64)


def halves(count: int) -> tuple[np.ndarray, np.ndarray]:
    inside = np.arange(count) % 2 == 0
    return inside, ~inside


def numbers(values: np.ndarray) -> Described:
    return Described("x", values, EMPTY, ())


def test_shifted_numbers_are_as_far_apart_as_scipy_says() -> None:
    from scipy.stats import ks_2samp

    inside, outside = halves(1000)
    values = np.random.default_rng(0).normal(size=1000) + 0.3 * inside
    drift = column_drift(numbers(values), inside, outside)
    truth = ks_2samp(values[inside], values[outside])
    assert drift is not None
    assert abs(drift.distance - truth.statistic) < 1e-12
    assert 0.3 < drift.chance / truth.pvalue < 3
    assert drift.inside > drift.outside


def test_missing_numbers_do_not_count_and_too_few_say_nothing() -> None:
    inside, outside = halves(100)
    values = np.full(100, np.nan)
    assert column_drift(numbers(values), inside, outside) is None


def test_values_are_as_far_apart_as_scipy_says() -> None:
    from scipy.stats import chi2_contingency

    rng = np.random.default_rng(0)
    inside, outside = halves(1000)
    codes = np.where(inside, rng.choice(3, 1000, p=[0.5, 0.3, 0.2]), rng.choice(3, 1000, p=[0.3, 0.3, 0.4]))
    drift = column_drift(Described("x", None, codes, ("a", "b", "c")), inside, outside)
    counts = [np.bincount(codes[side], minlength=3) for side in (inside, outside)]
    assert drift is not None
    assert abs(drift.chance - chi2_contingency(counts, correction=False).pvalue) < 1e-12
    assert drift.value in ("a", "c")
    assert 0.1 < drift.distance < 0.3


def test_ten_thousand_rare_values_raise_no_alarm() -> None:
    inside, outside = halves(10_000)
    codes = np.random.default_rng(0).permutation(10_000)
    names = tuple(str(one) for one in range(10_000))
    drift = column_drift(Described("x", None, codes, names), inside, outside)
    assert drift is None or drift.chance > 0.01


def graph(latents: np.ndarray) -> Nearest:
    away = ((latents[:, None] - latents[None]) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    return Nearest(np.argsort(away, axis=1)[:, :20].astype(np.int64), np.zeros((len(latents), 20), np.float32))


def test_mixed_sets_are_mixed_and_parted_ones_parted() -> None:
    rng = np.random.default_rng(0)
    inside, outside = halves(400)
    latents = rng.normal(size=(400, 3))
    mixed = latent_separation(graph(latents), inside, outside, np.random.default_rng(1))
    assert mixed is not None
    assert mixed.chance > 0.001
    assert abs(mixed.distance) < 0.1
    apart = latent_separation(graph(latents + 20.0 * inside[:, None]), inside, outside, np.random.default_rng(1))
    assert apart is not None
    assert apart.distance == 1
    assert apart.chance < 1e-6


def test_samples_without_neighbours_say_nothing() -> None:
    inside, outside = halves(400)
    nobody = Nearest(np.full((400, 20), -1, np.int64), np.full((400, 20), np.inf, np.float32))
    assert latent_separation(nobody, inside, outside, np.random.default_rng(1)) is None
