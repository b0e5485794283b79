"""The arithmetic of what a correction buys: means over seeds. Pure."""

from __future__ import annotations

import numpy as np

from benchmarks.figures import COVERAGE, Estimate, Floats

__all__ = ["mean_over_seeds"]


def mean_over_seeds(values: Floats) -> Estimate:
    """The mean with Student's interval: seeds are few. One seed has none, so that it decides nothing."""
    from scipy.stats import t

    mean = float(values.mean())
    if values.size < 2:
        return Estimate(mean, -np.inf, np.inf)
    reach = float(t.ppf((1 + COVERAGE) / 2, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size))
    return Estimate(mean, mean - reach, mean + reach)
