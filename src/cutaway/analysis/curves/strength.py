"""How strongly two columns go together, by ranks: what counts is the order of the values, not their distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cutaway.analysis.libraries import library
from cutaway.analysis.statistics.intervals import Z95
from cutaway.arrays import Float64Array, Int64Array

__all__ = ["FEWEST", "Strength", "rank_correlation", "rank_correlation_value", "rank_share", "rank_share_value"]


# Of fewer samples the order says next to nothing.
FEWEST = 10


@dataclass(frozen=True)
class Strength:
    """How strongly one column goes with another, over `count` samples.

    `rank correlation` is Spearman's, from -1 to 1, with a 95 % interval. `rank share` is the share of the variance of
    the ranks that a column of values such as classes explains, from 0 to 1 (epsilon squared of Kruskal and Wallis),
    without an interval. `p_value` is the chance of as much where the two have nothing to do with each other; it and
    the interval take the samples as independent.
    """

    measure: Literal["rank correlation", "rank share"]
    value: float
    low: float | None
    high: float | None
    p_value: float
    count: int

    def __str__(self) -> str:
        """Say it in words: `rank correlation 0.41 [0.38, 0.44], 9,998 samples`."""
        within = "" if self.low is None or self.high is None else f" [{self.low:z.2f}, {self.high:z.2f}]"
        return f"{self.measure} {self.value:z.2f}{within}, {self.count:,} samples"


def rank_correlation(x: Float64Array, y: Float64Array) -> Strength | None:
    """Return Spearman's rank correlation; None where a side is constant or the samples are fewer than `FEWEST`."""
    value, count = rank_correlation_value(x, y), len(x)
    if value is None:
        return None
    return Strength("rank correlation", value, *_interval(value, count), _correlation_chance(value, count), count)


def rank_correlation_value(x: Float64Array, y: Float64Array) -> float | None:
    """Return Spearman's rank correlation alone, which takes nothing but numpy."""
    if len(x) < FEWEST:
        return None
    own, other = (ranks - ranks.mean() for ranks in (_ranks(x), _ranks(y)))
    size = math.sqrt(float(own @ own) * float(other @ other))
    return None if size == 0 else max(-1.0, min(1.0, float(own @ other) / size))


def rank_share(codes: Int64Array, y: Float64Array) -> Strength | None:
    """Return how far values without an order explain the ranks of `y`; None where a side is constant, or of too few."""
    chdtrc = library("scipy.special", "A rank share").chdtrc
    found = _kruskal(codes, y)
    if found is None:
        return None
    statistic, freedom = found
    return Strength("rank share", _share(*found, len(y)), None, None, float(chdtrc(freedom, statistic)), len(y))


def rank_share_value(codes: Int64Array, y: Float64Array) -> float | None:
    """Return that share alone, which takes nothing but numpy."""
    found = _kruskal(codes, y)
    return None if found is None else _share(*found, len(y))


def _kruskal(codes: Int64Array, y: Float64Array) -> tuple[float, int] | None:
    """Return the statistic of Kruskal and Wallis and its degrees of freedom."""
    count = len(y)
    present, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    ranks = _ranks(y) - (count + 1) / 2
    spread = float(ranks @ ranks)
    if count < max(FEWEST, len(present) + 1) or len(present) < 2 or spread == 0:
        return None
    sums = np.bincount(places, ranks)
    return (count - 1) * float((sums**2 / counts).sum()) / spread, len(present) - 1


def _share(statistic: float, freedom: int, count: int) -> float:
    return max(0.0, (statistic - freedom) / (count - freedom - 1))


def _ranks(values: Float64Array) -> Float64Array:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places], np.float64)


def _interval(value: float, count: int) -> tuple[float, float]:
    """Return the interval by Fisher's transformation, with the variance of Bonett and Wright for ranks."""
    # A perfect order is half a swap away from the next one; taken as it is, its interval would have no width.
    least = 6 / (count * (count**2 - 1))
    held = max(-1 + least, min(1 - least, value))
    half = Z95 * math.sqrt((1 + held**2 / 2) / (count - 3))
    low, high = math.tanh(math.atanh(held) - half), math.tanh(math.atanh(held) + half)
    return min(low, value), max(high, value)


def _correlation_chance(value: float, count: int) -> float:
    stdtr = library("scipy.special", "A rank correlation").stdtr
    if abs(value) == 1:
        return 0.0
    distance = abs(value) * math.sqrt((count - 2) / ((1 - value) * (1 + value)))
    return float(2 * stdtr(count - 2, -distance))
