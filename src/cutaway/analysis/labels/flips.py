"""Which classes are given which wrong labels: evenly all others, or some far more often. Pure."""

from __future__ import annotations

from math import lgamma

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["Flips", "estimate_flips"]

# Of more classes no pair is looked at by itself.
MOST_CLASSES = 100
# Contradicted labels count from this probability on that they are wrong: hard pairs are no proof of a habit.
SURE = 0.5
# How even the wrong labels of a class are: as if it had so many more of them, evenly spread.
EVEN = np.geomspace(0.3, 3000, 14)
# No class is free of wrong labels for certain.
LEAST = 1e-5


class Flips:
    """How likely a sample of a class has a label: `rates` is how likely another one, `pairs` which; evenly if None."""

    def __init__(self, rates: Float64Array, pairs: Float64Array | None) -> None:
        self._rates, self._pairs = np.maximum(rates, LEAST), pairs

    def of(self, codes: Int64Array, labels: Int64Array) -> Float64Array:
        """Return how likely samples of each class in `codes`, (samples, classes), have the label of the sample."""
        own = labels[:, None]
        share = 1 / max(len(self._rates) - 1, 1) if self._pairs is None else self._pairs[codes, own]
        return np.where(codes == own, 1 - self._rates[codes], self._rates[codes] * share)

    def evened(self) -> Flips:
        """Return rates and pairs half-way to those of classes that are all alike."""
        rates = (self._rates + self._rates.mean()) / 2
        return Flips(rates, None if self._pairs is None else (self._pairs + 1 / (len(rates) - 1)) / 2)


def estimate_flips(
    rates: Float64Array, labels: Int64Array, preferred: Int64Array, contradicted: BoolArray, flipped: Float64Array
) -> Flips:
    """Return which wrong labels the classes get, from contradicted labels that are likely wrong."""
    classes = len(rates)
    if not 2 < classes <= MOST_CLASSES:
        return Flips(rates, None)
    counts = np.zeros((classes, classes))
    sure = contradicted & (flipped >= SURE)
    np.add.at(counts, (preferred[sure], labels[sure]), flipped[sure])
    totals = counts.sum(axis=1)
    even = EVEN[int(np.argmax([_likely(counts, totals, one) for one in EVEN]))]
    pairs = (counts + even / (classes - 1)) / (totals + even)[:, None]
    return Flips(rates, pairs)


def _likely(counts: Float64Array, totals: Float64Array, even: float) -> float:
    """Return the logarithm of how likely the counts are if they are so even (Dirichlet-multinomial)."""
    each = even / (len(counts) - 1)
    rows = sum(lgamma(even) - lgamma(even + one) for one in totals[totals > 0].tolist())
    return rows + sum(lgamma(each + one) - lgamma(each) for one in counts[counts > 0].tolist())
