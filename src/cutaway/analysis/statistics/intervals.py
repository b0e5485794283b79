"""95 % intervals of shares, of means and of their differences. Few samples give wide ones, a single one gives none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.analysis.libraries import library
from cutaway.arrays import Array, Float64Array

__all__ = ["Z95", "mean_difference", "mean_interval", "normal_tail", "share_difference", "share_interval"]

Z95 = 1.959963984540054
"""So many standard errors lie on each side of a 95 % interval."""


def share_interval(yes: npt.ArrayLike, counts: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Return Wilson's 95 % interval of shares `yes / counts`; NaN where the count is 0.

    >>> low, high = share_interval([10], [10])
    >>> round(float(low[0]), 3), float(high[0])
    (0.722, 1.0)
    """
    right, total = np.asarray(yes, np.float64), np.asarray(counts, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, doubt = right / total, Z95**2 / total
        centre = (share + doubt / 2) / (1 + doubt)
        half = np.sqrt(share * (1 - share) * doubt + doubt**2 / 4) / (1 + doubt)
    # None and all are known bounds, which rounding must not miss by a hair.
    low = np.where(right == 0, np.where(total > 0, 0.0, np.nan), centre - half)
    high = np.where(right == total, np.where(total > 0, 1.0, np.nan), centre + half)
    return low, high


def mean_interval(means: Float64Array, deviations: Float64Array, counts: Array) -> tuple[Float64Array, Float64Array]:
    """Return Student's 95 % interval of means, `deviations` being those of the samples; NaN below two samples.

    It takes the samples as independent of each other. Of values as skewed as losses, means of a few samples stray
    further than it says.
    """
    stdtrit = library("scipy.special", "An interval of a mean").stdtrit
    freedom = np.asarray(counts, np.float64) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        half = stdtrit(np.where(freedom > 0, freedom, np.nan), 0.975) * deviations / np.sqrt(counts)
    return means - half, means + half


def share_difference(yes: tuple[float, float], counts: tuple[float, float]) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares (Newcombe's, from Wilson's)."""
    low, high = share_interval(yes, counts)
    first, second = yes[0] / counts[0], yes[1] / counts[1]
    down = np.hypot(first - low[0], high[1] - second)
    up = np.hypot(high[0] - first, second - low[1])
    return float(first - second - down), float(first - second + up)


def mean_difference(inside: Float64Array, outside: Float64Array) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two means (Welch's, by the normal distribution)."""
    if len(inside) < 2 or len(outside) < 2:
        return float("nan"), float("nan")
    error = float(np.sqrt(inside.var(ddof=1) / len(inside) + outside.var(ddof=1) / len(outside)))
    middle = float(inside.mean() - outside.mean())
    return middle - Z95 * error, middle + Z95 * error


def normal_tail(z: npt.ArrayLike) -> Float64Array:
    """Return the chance of a normal value above `z`."""
    return np.asarray(library("scipy.special", "Insights").ndtr(-np.asarray(z, np.float64)), np.float64)
