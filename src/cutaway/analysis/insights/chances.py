"""Corrections for many looks, and tests of a difference. Plain figures in and out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.analysis.statistics.intervals import Z95, share_interval
from cutaway.arrays import Float64Array
from cutaway.errors import MissingExtraError

__all__ = ["ALARMS", "mean_difference", "normal_tail", "share_difference"]


ALARMS = 0.005
"""Of data without any fault, each kind of insight is found in at most this share."""


def normal_tail(z: npt.ArrayLike) -> Float64Array:
    """Return the chance of a normal value above `z`."""
    try:
        from scipy.special import ndtr
    except ImportError as error:
        raise MissingExtraError("Insights", "analysis") from error
    return np.asarray(ndtr(-np.asarray(z, np.float64)), np.float64)


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
