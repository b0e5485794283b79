"""Confident learning: what probabilities of samples that were held out of training say about their labels."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import BoolArray, Float32Array, Float64Array, Int64Array

__all__ = ["HELD_OUT", "held_out_margins"]

HELD_OUT = ("validation", "test")
"""Subsets that training did not learn from."""


def held_out_margins(probabilities: Float32Array, labels: Int64Array, held_out: BoolArray) -> Float64Array:
    """Return how far the label's probability lies above the best other one, each less what is usual for its class.

    Usual is the mean probability of a class among the held-out samples that have it as their label: a class of which
    the model is never sure does not make each of its samples a suspect. NaN for all other samples.
    """
    classes = probabilities.shape[1]
    rows = np.flatnonzero(held_out & (labels >= 0) & (labels < classes))
    rows = rows[np.isfinite(probabilities[rows]).all(axis=1)]
    margins = np.full(len(labels), np.nan)
    if not len(rows) or classes < 2:
        return margins
    own = probabilities[rows, labels[rows]].astype(np.float64)
    counts = np.bincount(labels[rows], minlength=classes)
    sums = np.bincount(labels[rows], weights=own, minlength=classes)
    # A class of few samples is as sure as all classes are together.
    usual = (sums + own.mean()) / (counts + 1)
    usual -= usual.mean()
    adjusted = probabilities[rows] - usual.astype(np.float32)
    mine = adjusted[np.arange(len(rows)), labels[rows]].copy()
    adjusted[np.arange(len(rows)), labels[rows]] = -np.inf
    margins[rows] = np.clip(mine - adjusted.max(axis=1), -1, 1)
    return margins
