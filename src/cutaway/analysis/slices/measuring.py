"""How much worse a slice is in the outcome's own units, with an interval, and in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutaway.analysis.statistics.intervals import mean_difference, share_difference
from cutaway.arrays import BoolArray, Float64Array
from cutaway.wording import counted

__all__ = ["SliceDifference", "clipped", "difference", "in_words"]

# Values beyond these percentiles are taken as these: a few enormous losses are no trend.
CUT_OFF = (1.0, 99.0)


class SliceDifference(NamedTuple):
    """The means inside and outside, and the 95 % interval of their difference."""

    inside: float
    outside: float
    interval: tuple[float, float]


def clipped(outcome: Float64Array) -> Float64Array:
    """Return an outcome with its extremes cut off; one of two values as it is, or as 0 and 1 where one is infinite."""
    values = np.unique(outcome)
    if len(values) == 2:
        return outcome if np.isfinite(values).all() else (outcome == values[1]).astype(np.float64)
    low, high = np.percentile(outcome, CUT_OFF, method="nearest")
    finite = outcome[np.isfinite(outcome)]
    return np.clip(outcome, max(low, finite.min()), min(high, finite.max()))


def difference(values: Float64Array, rows: BoolArray) -> SliceDifference:
    """Return how the mean of some rows differs from that of the others."""
    inside, outside = values[rows], values[~rows]
    if set(np.unique(values)) <= {0.0, 1.0}:
        interval = share_difference((float(inside.sum()), float(outside.sum())), (len(inside), len(outside)))
    else:
        interval = mean_difference(inside, outside)
    return SliceDifference(float(inside.mean()), float(outside.mean()), interval)


def in_words(name: str, found: SliceDifference, where: tuple[str, ...], count: int, *, share: bool) -> str:
    """Return a line such as `error 21 % where metadata.thickness < 2, 9 % elsewhere: 412 samples`."""
    inside, outside = _percents(found) if share else _numbers(found)
    samples = counted(count, "sample")
    return f"{name} {inside} where {' and '.join(where)}, {outside} elsewhere: {samples}"


def _percents(found: SliceDifference) -> tuple[str, str]:
    figures = [100 * found.inside, 100 * found.outside]
    for digits in (0, 1, 2, 4):
        inside, outside = (f"{one:.{digits}f}" for one in figures)
        told = all(float(text) > 0 or one == 0 for text, one in zip((inside, outside), figures, strict=True))
        if inside != outside and told:
            break
    return f"{inside} %", f"{outside} %"


def _numbers(found: SliceDifference) -> tuple[str, str]:
    for digits in (2, 3, 5, 8):
        inside, outside = f"{found.inside:.{digits}g}", f"{found.outside:.{digits}g}"
        if inside != outside:
            break
    return inside, outside
