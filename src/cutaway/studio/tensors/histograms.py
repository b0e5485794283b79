"""Counts the values of an array, however large, in pieces: finite ones in bins, the others by what they are.

Functions of arrays; knows neither runs nor HTTP.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array, Float64Array

__all__ = ["Counted", "count_values"]

# So many values are held as doubles at once.
PIECE = 1 << 20


@dataclass(frozen=True)
class Counted:
    """What an array holds; all but the counts of what is not finite is over the finite values."""

    edges: list[float]
    counts: list[int]
    nan: int
    positive_infinity: int
    negative_infinity: int
    zeros: int
    min: float | None
    max: float | None
    mean: float | None
    std: float | None


def count_values(values: Array, bins: int) -> Counted:
    """Count all values in `bins` bins of equal width; where all are the same, in bins around it.

    >>> count_values(np.array([0.0, 1.0, 1.0, np.nan]), 2).counts
    [1, 2]
    """
    found = _ValueSums()
    for piece in _pieces(values):
        found.add(piece)
    if not found.count:
        return Counted([0.0, 1.0], [0], found.nan, found.above, found.below, 0, None, None, None, None)
    edges = _edges(found.low, found.high, bins)
    counts = np.zeros(bins, np.int64)
    for piece in _pieces(values):
        good = piece[np.isfinite(piece)]
        places = np.clip(np.searchsorted(edges, good, side="right") - 1, 0, bins - 1)
        counts += np.bincount(places, minlength=bins)
    return Counted(
        edges=edges.tolist(),
        counts=counts.tolist(),
        nan=found.nan,
        positive_infinity=found.above,
        negative_infinity=found.below,
        zeros=found.zeros,
        min=found.low,
        max=found.high,
        mean=found.mean * found.scale,
        std=math.sqrt(found.squares / found.count) * found.scale,
    )


class _ValueSums:
    """Mean and spread of what has come so far, joined piece by piece so that no digits are lost.

    Values are divided by `scale` first, so that the squares of the largest doubles do not overflow.
    """

    def __init__(self) -> None:
        self.count = self.nan = self.above = self.below = self.zeros = 0
        self.low, self.high = math.inf, -math.inf
        self.mean = self.squares = 0.0
        self.scale = 1.0

    def add(self, piece: Float64Array) -> None:
        good = piece[np.isfinite(piece)]
        self.nan += int(np.isnan(piece).sum())
        self.above += int((piece == np.inf).sum())
        self.below += int((piece == -np.inf).sum())
        if not len(good):
            return
        self.zeros += int((good == 0).sum())
        self.low, self.high = min(self.low, float(good.min())), max(self.high, float(good.max()))
        self._rescale(max(abs(self.low), abs(self.high)))
        scaled = good / self.scale
        mean = float(scaled.mean())
        squares = float(((scaled - mean) ** 2).sum())
        total, apart = self.count + len(good), mean - self.mean
        self.squares += squares + apart * apart * (self.count / total) * len(good)
        self.mean += apart * (len(good) / total)
        self.count = total

    def _rescale(self, largest: float) -> None:
        if largest > 1e100 * self.scale:
            share = self.scale / largest
            self.mean, self.squares, self.scale = self.mean * share, self.squares * share * share, largest


def _pieces(values: Array) -> Iterator[Float64Array]:
    flat = values.reshape(-1)
    for start in range(0, flat.size, PIECE):
        yield flat[start : start + PIECE].astype(np.float64)


def _edges(low: float, high: float, bins: int) -> Float64Array:
    if low == high:
        half = max(0.5, abs(low) * 1e-3) if abs(low) < 1e300 else 0.0
        low, high = low - half, high + half
    # Halved, because the distance between the largest doubles is none.
    share = np.arange(bins + 1) / bins
    edges: Float64Array = 2 * (low / 2 * (1 - share) + high / 2 * share)
    edges[0], edges[-1] = low, high
    # The last digits of large doubles are rounded down as well as up.
    return np.maximum.accumulate(np.clip(edges, low, high))
