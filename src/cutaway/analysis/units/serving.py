"""Which classes a unit serves: whose samples it answers to more than to the others.

Measured by AUC, one class against the rest: the chance that a sample of the class has a higher value than another one.
A half is no difference, and neither scale nor outliers nor the size of the class change what it means.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cutaway.analysis.samples.coding import Coded
from cutaway.arrays import BoolArray, Float32Array, Float64Array, Int64Array

__all__ = ["SERVES", "ClassComparison", "Compared"]


# From this AUC on a unit can be said to serve a class.
SERVES = 0.8
# The chance that any unit at all is wrongly said to serve any class.
CHANCE = 0.05
_LOW = np.uint64(0xFFFFFFFF)


class Compared(NamedTuple):
    """The classes that one unit answers to most, best first, and how many it serves among all of them."""

    classes: Int64Array
    means: Float64Array
    rest: Float64Array
    auc: Float64Array
    effect: Float64Array
    serves: BoolArray
    served: int


class ClassComparison:
    """Compares each class with the rest, unit by unit. `labels` are those of the rows whose values it will be given."""

    def __init__(self, labels: Coded, units: int, top: int) -> None:
        self._labelled = labels.codes >= 0
        self._codes = labels.codes[self._labelled]
        self._counts = np.bincount(self._codes, minlength=len(labels.names)).astype(np.float64)
        self._top = top
        present = int((self._counts > 0).sum())
        self.applies = present > 1
        # With many classes and units some would stand out by mere chance.
        self._least = NormalDist().inv_cdf(1 - CHANCE / max(present * units, 1))

    @property
    def counts(self) -> Int64Array:
        """How many samples each class has."""
        return self._counts.astype(np.int64)

    def compare(self, values: Float32Array) -> Compared:
        """Return what a unit with these values, one a row, answers to."""
        own = values if self._labelled.all() else values[self._labelled]
        counts, rows = self._counts, len(own)
        rest = rows - counts
        with np.errstate(invalid="ignore", divide="ignore"):
            ranks, ties = _rank_sums(own, self._codes, len(counts))
            auc = (ranks - counts * (counts + 1) / 2) / (counts * rest)
            # How far the AUC strays where class and unit have nothing to do with each other.
            stray = np.sqrt((rows + 1 - ties) / (12 * counts * rest))
            sums = np.bincount(self._codes, own, len(counts))
            means, others = sums / counts, (sums.sum() - sums) / rest
            effect = (means - others) / own.std(dtype=np.float64)
            serves = (auc >= SERVES) & (auc - 0.5 >= self._least * stray)
        # Classes of a few samples reach an AUC of 1 by chance, so the doubt is taken off before they are put in order.
        surely = np.where(counts > 0, auc - 2 * stray, -np.inf)
        best = np.argsort(-surely, kind="stable")[: self._top]
        best = best[(auc[best] > 0.5) & (counts[best] > 0)]
        return Compared(best, means[best], others[best], auc[best], effect[best], serves[best], int(serves.sum()))


def _rank_sums(values: Float32Array, codes: Int64Array, classes: int) -> tuple[Float64Array, float]:
    """Return the sum of the ranks of each class, equal values sharing theirs, and what ties take off the variance."""
    packed = _with_codes(values, codes)
    packed.sort()
    ordered = (packed >> np.uint64(32)).astype(np.uint32)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(starts, append=len(values)).astype(np.float64)
    ranks = np.repeat(starts + (lengths + 1) / 2, lengths.astype(np.int64))
    rows = len(values)
    ties = float((lengths**3 - lengths).sum()) / (rows * (rows - 1.0))
    return np.asarray(np.bincount((packed & _LOW).astype(np.int64), ranks, classes), np.float64), ties


def _with_codes(values: Float32Array, codes: Int64Array) -> npt.NDArray[np.uint64]:
    """Pack each value and its class into one whole number that sorts by value.

    Sorting those and unpacking them is five times as fast as sorting places and looking the classes up.
    """
    # Adding 0 makes -0 a 0. The bits of positive floats sort as they are; those of negative ones the other way round.
    bits = (values.astype(np.float32, copy=False) + np.float32(0)).view(np.uint32)
    sortable = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return (sortable.astype(np.uint64) << np.uint64(32)) | codes.astype(np.uint64)
