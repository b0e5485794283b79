"""The arithmetic of what a correction buys: means over seeds, and the share of a gap that was closed. Pure."""

from __future__ import annotations

import numpy as np

from benchmarks.figures import COVERAGE, RESAMPLES, Estimate, Floats

__all__ = ["mean_over_seeds", "recovered"]


def mean_over_seeds(values: Floats) -> Estimate:
    """The mean with Student's interval: seeds are few. One seed has none, so that it decides nothing."""
    from scipy.stats import t

    mean = float(values.mean())
    if values.size < 2:
        return Estimate(mean, -np.inf, np.inf)
    reach = float(t.ppf((1 + COVERAGE) / 2, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size))
    return Estimate(mean, mean - reach, mean + reach)


def recovered(clean: Floats, noisy: Floats, fixed: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """How much of the gap between noisy and clean accuracy was closed: the mean gain over the mean gap.

    A ratio of means, since the gap of one seed may be near zero or below. The interval is a bootstrap of the seeds:
    the three accuracies of a seed stay together, since what one split makes easy is easy for all three.
    """
    gains, gaps = fixed - noisy, clean - noisy
    picks = np.random.default_rng(seed).integers(0, gaps.size, size=(resamples, gaps.size))
    tail = (1 - COVERAGE) / 2
    # Without a gap there is no share of it: infinite, or not a number. Whoever judges looks at the gap too.
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = gains[picks].mean(axis=1) / gaps[picks].mean(axis=1)
        low, high = np.quantile(shares, [tail, 1 - tail])
        return Estimate(float(gains.mean() / gaps.mean()), float(low), float(high))
