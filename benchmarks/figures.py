"""The arithmetic of a comparison: ratios of paired times, their interval, and the verdict against a bar.

Pure functions of arrays; no clock, no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000
COVERAGE = 0.95


class Verdict(StrEnum):
    """What a figure says about its bar. A bar is missed only when the whole interval lies beyond it."""

    MET = "met"
    WITHIN_NOISE = "within noise"
    MISSED = "missed"
    VOID = "void"  # the figure was bought by losing records or by wrong ones, so it does not count
    NO_BAR = "-"


class Side(StrEnum):
    """Which side of the bar is good."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True)
class Estimate:
    """A median and the interval in which it lies with 95 % confidence."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Bar:
    """The bound that a figure is held to."""

    value: float
    side: Side = Side.AT_MOST

    def __str__(self) -> str:
        sign = "<=" if self.side is Side.AT_MOST else ">="
        return f"{sign} {self.value:g}"


def median_interval(values: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The median of `values` with its bootstrap interval (percentiles of resampled medians)."""
    if values.size == 0:
        message = "`values` must not be empty: there is no median of nothing."
        raise ValueError(message)
    generator = np.random.default_rng(seed)
    picks = generator.integers(0, values.size, size=(resamples, values.size))
    medians = np.median(values[picks], axis=1)
    tail = (1.0 - COVERAGE) / 2.0
    low, high = np.quantile(medians, [tail, 1.0 - tail])
    return Estimate(float(np.median(values)), float(low), float(high))


def ratio_interval(numerators: Floats, denominators: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The ratio of the medians of two samples that are not paired, each resampled on its own."""
    generator = np.random.default_rng(seed)
    medians = [
        np.median(values[generator.integers(0, values.size, size=(resamples, values.size))], axis=1)
        for values in (numerators, denominators)
    ]
    tail = (1.0 - COVERAGE) / 2.0
    low, high = np.quantile(medians[0] / medians[1], [tail, 1.0 - tail])
    return Estimate(float(np.median(numerators) / np.median(denominators)), float(low), float(high))


def paired_ratios(bare: Floats, again: Floats, captured: Floats) -> Floats:
    """Per triple, the captured time over the geometric mean of the two bare times.

    Geometric, so that the two bare times count alike whether noise made one larger or the other smaller.
    """
    return np.asarray(captured / np.sqrt(bare * again), dtype=np.float64)


def verdict(estimate: Estimate, bar: Bar | None) -> Verdict:
    """Met if the median keeps the bar, missed if the whole interval breaks it, else within noise."""
    if bar is None:
        return Verdict.NO_BAR
    if bar.side is Side.AT_MOST:
        kept, broken = estimate.median <= bar.value, estimate.low > bar.value
    else:
        kept, broken = estimate.median >= bar.value, estimate.high < bar.value
    if kept:
        return Verdict.MET
    return Verdict.MISSED if broken else Verdict.WITHIN_NOISE
