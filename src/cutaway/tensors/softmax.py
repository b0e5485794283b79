"""Probabilities of classes from logits; the only place that computes them in numpy."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array

__all__ = ["softmax"]


def softmax(scores: Array) -> Array:
    """Return the probabilities of the classes on the last axis; NaN where one of the scores is not finite.

    >>> softmax(np.array([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=-1, keepdims=True))
