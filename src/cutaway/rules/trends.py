"""Whether a noisy series has come down: two means, and how far apart chance alone would put them. Pure numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Float64Array

__all__ = ["Trend", "roughness", "scatter", "trend"]


class Trend(NamedTuple):
    """The means of two neighbouring stretches, and the standard error of their difference."""

    before: float
    after: float
    noise: float

    @property
    def fall(self) -> float:
        """By how much it came down; negative where it rose."""
        return self.before - self.after

    @property
    def percent(self) -> float:
        """The fall in percent of where it came from; NaN from zero."""
        return 100 * self.fall / abs(self.before) if self.before else math.nan


def scatter(values: Float64Array) -> float:
    """Return the standard deviation of values around their course.

    It is taken from the differences of neighbours, so that a series that steadily rises or falls does not look noisy.

    >>> scatter(np.arange(100.0)) < 1
    True
    """
    if len(values) < 2:
        return 0.0
    steps = np.diff(values)
    return math.sqrt(float(steps @ steps) / (2 * len(steps)))


def roughness(values: Float64Array) -> float:
    """Return the standard deviation of values around their course, where that may be steep for a while.

    It is taken from the median of how far each lies beside the line through its neighbours.
    """
    if len(values) < 3:
        return 0.0
    beside = np.diff(values, 2)
    return 1.4826 / math.sqrt(6) * float(np.median(np.abs(beside)))


def trend(before: Float64Array, after: Float64Array) -> Trend:
    """Compare two neighbouring stretches of a series, neither empty."""
    around = scatter(np.concatenate([before, after]))
    noise = around * math.sqrt(1 / len(before) + 1 / len(after))
    return Trend(float(before.mean()), float(after.mean()), noise)
