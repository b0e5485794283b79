"""Makes long series short without losing what matters: of each stretch its last value, its extremes, its faults.

Functions of arrays; knows neither runs nor HTTP.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cutaway.arrays import Float64Array, Int64Array

__all__ = ["Thinned", "stretches", "thin"]


class Thinned(NamedTuple):
    """A series by stretches: `places` are those of the last point of each; NaN where there is no finite value."""

    places: Int64Array
    value: Float64Array
    min: Float64Array
    max: Float64Array
    nonfinite: Int64Array


def stretches(count: int, points: int) -> Int64Array:
    """Return where at most `points` stretches of `count` points begin; each point is one of its own where they fit.

    >>> stretches(5, 10).tolist(), stretches(10, 3).tolist()
    ([0, 1, 2, 3, 4], [0, 3, 6])
    """
    if count <= points:
        return np.arange(count, dtype=np.int64)
    return (np.arange(points, dtype=np.int64) * count) // points


def thin(values: npt.ArrayLike, points: int) -> Thinned:
    """Return a series in at most `points` stretches of nearly equal length.

    >>> thin([1.0, 5.0, 2.0, float("nan")], 2)._asdict()["max"].tolist()
    [5.0, 2.0]
    """
    array = np.asarray(values, np.float64)
    starts = stretches(len(array), points)
    if not len(array):
        return Thinned(starts, array, array, array, starts)
    finite = np.isfinite(array)
    lowest = np.minimum.reduceat(np.where(finite, array, np.inf), starts)
    highest = np.maximum.reduceat(np.where(finite, array, -np.inf), starts)
    bad = np.add.reduceat((~finite).astype(np.int64), starts)
    places = np.append(starts[1:], len(array)) - 1
    value = np.where(finite[places], array[places], np.nan)
    return Thinned(
        places,
        value,
        np.where(np.isfinite(lowest), lowest, np.nan),
        np.where(np.isfinite(highest), highest, np.nan),
        bad,
    )
