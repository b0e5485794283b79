"""95 % intervals of shares and of means, from counts. Small counts give wide intervals, one sample gives none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.arrays import Array, Float64Array
from cutaway.errors import MissingExtraError

__all__ = ["Z95", "mean_interval", "share_interval"]


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
    try:
        from scipy.special import stdtrit
    except ImportError as error:
        raise MissingExtraError("An interval of a mean", "analysis") from error

    freedom = np.asarray(counts, np.float64) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        half = stdtrit(np.where(freedom > 0, freedom, np.nan), 0.975) * deviations / np.sqrt(counts)
    return means - half, means + half
