"""The loss and metrics where nobody bound any: from what the model carried, or from the first batch. Pure decisions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.models import SavedTraining
from cutaway.run.sources import Pair

__all__ = ["are_probabilities", "default_loss", "default_metric", "look_at_pair", "loss_of_training"]

# How far a row of probabilities may be from 1: float16 and softmax in float32 both stay within.
SUM_TOLERANCE = 1e-2

_SHORT_NAMES = {
    "mse": "MeanSquaredError",
    "mae": "MeanAbsoluteError",
    "mape": "MeanAbsolutePercentageError",
    "msle": "MeanSquaredLogarithmicError",
    "mseloss": "MeanSquaredError",
    "l1loss": "MeanAbsoluteError",
    "crossentropyloss": "CategoricalCrossentropyFromLogits",
    "bceloss": "BinaryCrossentropy",
    "bcewithlogitsloss": "BinaryCrossentropyFromLogits",
    "sparsecategoricalcrossentropy": "CategoricalCrossentropy",
    "meansquarederror": "MeanSquaredError",
    "meanabsoluteerror": "MeanAbsoluteError",
    "meanabsolutepercentageerror": "MeanAbsolutePercentageError",
    "meansquaredlogarithmicerror": "MeanSquaredLogarithmicError",
    "categoricalcrossentropy": "CategoricalCrossentropy",
    "binarycrossentropy": "BinaryCrossentropy",
}


def look_at_pair(truth: Array, prediction: Array, axis: int) -> Pair:
    """Look at a first batch of ground truth and prediction, whose classes lie on `axis`.

    >>> look_at_pair(np.array([1, 0]), np.array([[0.2, 0.8], [0.5, 0.5]]), -1)
    Pair(classes=2, probabilities=True, comparable=True)
    >>> look_at_pair(np.array([1.5, 0.2]), np.array([[1.4], [0.1]]), -1)
    Pair(classes=0, probabilities=False, comparable=True)
    """
    comparable = truth.size == prediction.size
    if prediction.ndim < 2 or prediction.shape[axis] < 2 or truth.dtype.kind not in "biuf":
        return Pair(0, probabilities=False, comparable=comparable and truth.dtype.kind in "biuf")
    scores = np.moveaxis(prediction, axis, -1)
    classes = scores.shape[-1]
    if not (_are_one_hot(truth, prediction.shape, axis) or _are_numbers(truth, scores.shape, classes)):
        return Pair(0, probabilities=False, comparable=comparable)
    return Pair(classes, are_probabilities(scores), comparable=True)


def are_probabilities(scores: Array) -> bool:
    """Whether scores are the probabilities of the classes on the last axis: none below 0, and together 1.

    >>> are_probabilities(np.array([[0.2, 0.8]])), are_probabilities(np.array([[-1.0, 2.0]]))
    (True, False)
    """
    # Scores that are not finite are no probabilities; which they are is said elsewhere.
    with np.errstate(all="ignore"):
        sums = scores.astype(np.float64).sum(axis=-1)
        return bool((scores >= 0).all() and (np.abs(sums - 1) <= SUM_TOLERANCE).all())


def default_loss(pair: Pair) -> str | None:
    """Return the name of the loss for such a pair; None where they cannot be compared."""
    if pair.classes:
        return "CategoricalCrossentropy" if pair.probabilities else "CategoricalCrossentropyFromLogits"
    return "MeanSquaredError" if pair.comparable else None


def default_metric(pair: Pair) -> str | None:
    """Return the name of the metric for such a pair; None where they cannot be compared."""
    if pair.classes:
        return "Accuracy"
    return "MeanAbsoluteError" if pair.comparable else None


def loss_of_training(training: SavedTraining) -> str | None:
    """Return which of our losses a model was trained with, where it carried one and it is one of ours.

    >>> loss_of_training(SavedTraining(loss="sparse_categorical_crossentropy"))
    'CategoricalCrossentropy'
    >>> loss_of_training(SavedTraining(loss={"class_name": "BinaryCrossentropy", "config": {"from_logits": True}}))
    'BinaryCrossentropyFromLogits'
    """
    loss: Any = training.loss
    config: Mapping[str, Any] = {}
    if isinstance(loss, Mapping):
        config = loss["config"] if isinstance(loss.get("config"), Mapping) else {}
        loss = loss.get("class_name") or loss.get("name")
    if isinstance(loss, list | tuple) and len(loss) == 1:
        loss = loss[0]
    if not isinstance(loss, str):
        return None
    name = _SHORT_NAMES.get(re.sub(r"[^a-z0-9]", "", loss.lower()))
    logits = f"{name}FromLogits"
    return logits if config.get("from_logits") and logits in _FROM_LOGITS else name


_FROM_LOGITS = frozenset(("CategoricalCrossentropyFromLogits", "BinaryCrossentropyFromLogits"))


def _are_one_hot(truth: Array, shape: tuple[int, ...], axis: int) -> bool:
    if truth.shape != shape:
        return False
    values = np.moveaxis(truth, axis, -1).astype(np.float64)
    return bool((values >= 0).all() and (np.abs(values.sum(axis=-1) - 1) <= SUM_TOLERANCE).all())


def _are_numbers(truth: Array, scores: tuple[int, ...], classes: int) -> bool:
    """Whether a ground truth holds the numbers of classes: whole, and none too large."""
    if truth.shape not in (scores[:-1], (*scores[:-1], 1)):
        return False
    values = truth.astype(np.float64)
    return bool(np.isfinite(values).all() and (values == np.round(values)).all() and values.min() >= 0) and bool(
        values.max() < classes
    )
