"""The default metrics: batches of ground truth and prediction in, one float32 a sample out.

The errors and cross-entropies are the functions of `cutaway.dataset.losses`. `Accuracy` compares classes, not rounded
numbers: the largest value on the class axis, whatever its size. NaN in a sample makes its metrics NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from cutaway.arrays import Array, Float32Array
from cutaway.dataset.class_axis import class_weights, flat_pair, is_binary, samples_with
from cutaway.dataset.enums import ConfusionMatrixValue, MetricDirection
from cutaway.dataset.functions import Metric
from cutaway.dataset.losses import (
    binary_crossentropy,
    categorical_crossentropy,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
)
from cutaway.dataset.responses import ConfusionMatrixElement
from cutaway.errors import ConfigurationError
from cutaway.tensors.softmax import softmax

__all__ = ["accuracy", "confusion_matrix_classification", "default_metrics"]


def accuracy(ground_truth: Array, prediction: Array, *, axis: int = -1) -> Float32Array:
    """Return the share of positions of each sample whose class is right: 0 or 1 where a sample has one.

    The predicted class is the first largest value on the class axis `axis`, the batch being axis 0. Ground truth is
    one-hot or class indices, by its shape. A single output is the probability of the positive class: above 0.5 it is
    predicted.

    >>> accuracy(np.array([[1, 0, 0]]), np.array([[0.4, 0.3, 0.3]])).tolist()
    [1.0]
    """
    guess = np.asarray(prediction)
    if is_binary(guess, axis):
        truth, flat = flat_pair(ground_truth, guess)
        right = (truth > 0.5) == (flat > 0.5)
        unknown = np.isnan(truth) | np.isnan(flat)
    else:
        weights, wide = class_weights(ground_truth, guess, axis)
        right = weights.argmax(axis=-1) == wide.argmax(axis=-1)
        unknown = np.isnan(weights) | np.isnan(wide)
    shares = right.mean(axis=1) if right.shape[1] else np.full(len(right), np.nan)
    return np.where(samples_with(unknown), np.nan, shares).astype(np.float32)


def confusion_matrix_classification(
    ground_truth: Array, prediction: Array, *, axis: int = -1, labels: Sequence[str] = (), logits: bool = False
) -> list[list[ConfusionMatrixElement]]:
    """Return for each sample one element a class: what was expected of it, and its predicted probability.

    Of `logits` of one class a sample the probability is their softmax; other numbers are taken as they are.
    Classes are called by `labels`, or by their index. A single output is one class, `1` unless `labels` has two names
    (the second is the positive one) or one. A sample whose ground truth is NaN has no elements. Samples with more than
    one position (masks) are refused: a confusion matrix of pixels would not be one of samples.

    >>> [[one, other]] = confusion_matrix_classification(np.array([1]), np.array([[0.2, 0.8]]), labels=["cat", "dog"])
    >>> other.label, other.expected_outcome.name, other.predicted_probability
    ('dog', 'Positive', 0.8)
    """
    guess = np.asarray(prediction)
    if is_binary(guess, axis):
        truth, flat = flat_pair(ground_truth, guess)
        weights, wide = truth[:, :, np.newaxis], flat[:, :, np.newaxis]
        names = _names(labels[-1:] or ("1",), 1)
    else:
        weights, wide = class_weights(ground_truth, guess, axis)
        names = _names(labels, wide.shape[-1])
        wide = softmax(wide) if logits else wide
    if wide.shape[1] != 1:
        raise ConfigurationError(
            f"ConfusionMatrixClassification needs one class vector a sample, but got predictions of shape "
            f"{guess.shape}, which have {wide.shape[1]} positions a sample."
        )
    return [_elements(names, weights[row, 0], wide[row, 0]) for row in range(len(wide))]


def default_metrics(channel_dim: int = -1, labels: Sequence[str] = (), *, logits: bool = False) -> tuple[Metric, ...]:
    """Return the default metrics for predictions whose classes, called `labels`, lie on `channel_dim`.

    `logits` says that they are no probabilities of the classes, for the metrics that need these.

    >>> [metric.name for metric in default_metrics() if metric.direction is MetricDirection.Upward]
    ['Accuracy']
    """
    down, up = MetricDirection.Downward, MetricDirection.Upward
    functions: dict[str, tuple[Callable[..., Any], MetricDirection | None]] = {
        "MeanSquaredError": (mean_squared_error, down),
        "MeanSquaredLogarithmicError": (mean_squared_logarithmic_error, down),
        "MeanAbsoluteError": (mean_absolute_error, down),
        "MeanAbsolutePercentageError": (mean_absolute_percentage_error, down),
        "Accuracy": (partial(accuracy, axis=channel_dim), up),
        "ConfusionMatrixClassification": (
            partial(confusion_matrix_classification, axis=channel_dim, labels=tuple(labels), logits=logits),
            None,
        ),
        "CategoricalCrossentropy": (partial(categorical_crossentropy, axis=channel_dim), down),
        "BinaryCrossentropy": (binary_crossentropy, down),
    }
    return tuple(
        Metric(name, function, ("ground_truth", "prediction"), direction=direction)
        for name, (function, direction) in functions.items()
    )


def _names(labels: Sequence[str], classes: int) -> tuple[str, ...]:
    if not labels:
        return tuple(str(index) for index in range(classes))
    if len(labels) != classes:
        raise ConfigurationError(
            f"`len(labels)` must be the number of classes, but got {len(labels)} labels for {classes} classes."
        )
    return tuple(labels)


def _elements(names: tuple[str, ...], weights: Array, probabilities: Array) -> list[ConfusionMatrixElement]:
    if np.isnan(weights).any():
        return []
    # Several may hold at once, or none; of a distribution in which nothing is above one half, the largest.
    positive = weights > 0.5
    if weights.any() and not positive.any() and len(names) > 1:
        positive = np.arange(len(names)) == weights.argmax()
    return [
        ConfusionMatrixElement(
            name, ConfusionMatrixValue.Positive if expected else ConfusionMatrixValue.Negative, float(probability)
        )
        for name, expected, probability in zip(names, positive, probabilities, strict=True)
    ]
