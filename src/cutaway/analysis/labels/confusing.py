"""Which pairs of classes are easily confused: between them right labels are contradicted, between others hardly any."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.labels.calibrating import LARGEST, NEAR
from cutaway.arrays import Float64Array, Int64Array

__all__ = ["confusion_kinds"]

# Of the samples near the border between their label and the next class, so many belong to the pairs of kind 0.
CONFUSED = 0.8


def confusion_kinds(margins: Float64Array, labels: Int64Array, suggested: Int64Array, classes: int) -> Int64Array:
    """Return the kind of each sample's pair of label and suggested class: 0 for those that are easily confused, else 1.

    How easily is told by samples that the evidence agrees with, if barely: their labels are right, and as many lie on
    the other side of the border.
    """
    largest = float(np.quantile(np.abs(margins), LARGEST)) if len(margins) else 0.0
    # Only pairs that occur: of many classes there are more pairs than samples.
    pairs, places = np.unique(labels * classes + np.maximum(suggested, 0), return_inverse=True)
    near = (margins >= 0) & (margins < NEAR * largest)
    counts = np.bincount(places[near], minlength=len(pairs))
    order = np.argsort(-counts, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(counts[order])[:-1]]) / max(int(counts.sum()), 1)
    kinds = np.ones(len(pairs), np.int64)
    kinds[order[before < CONFUSED]] = 0
    kinds[counts == 0] = 1
    return np.asarray(kinds[places])
