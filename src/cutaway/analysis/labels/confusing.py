"""Which pairs of classes are easily confused: between them right labels are contradicted, between others hardly any."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.labels.calibrating import LARGEST, NEAR
from cutaway.arrays import Float64Array, Int64Array

__all__ = ["KINDS", "confusion_kinds"]

# Of the samples near the border between their label and the next class, so many belong to pairs of the first kinds.
UP_TO = (0.5, 0.8, 0.95)
KINDS = len(UP_TO) + 1
"""How many kinds of pairs there are: from the most confused to those that nothing is near the border of."""


def confusion_kinds(margins: Float64Array, labels: Int64Array, suggested: Int64Array, classes: int) -> Int64Array:
    """Return the kind of each sample's pair of label and suggested class: 0 is most easily confused.

    How easily is told by samples that the evidence agrees with, if barely: their labels are right, and as many lie on
    the other side of the border.
    """
    largest = float(np.quantile(np.abs(margins), LARGEST)) if len(margins) else 0.0
    pairs = labels * classes + np.maximum(suggested, 0)
    near = (margins >= 0) & (margins < NEAR * largest)
    counts = np.bincount(pairs[near], minlength=classes * classes)
    order = np.argsort(-counts, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(counts[order])[:-1]]) / max(int(counts.sum()), 1)
    kinds = np.empty(classes * classes, np.int64)
    kinds[order] = np.searchsorted(UP_TO, before, side="right")
    kinds[counts == 0] = len(UP_TO)
    return kinds[pairs]
