"""The default losses: batches of ground truth and prediction in, one float32 a sample out. Knows no model.

Formulas, for one sample with truth t and prediction p:

| name | value |
|---|---|
| `MeanSquaredError` | mean (t - p)^2 |
| `MeanAbsoluteError` | mean abs(t - p) |
| `MeanSquaredLogarithmicError` | mean (log(1 + max(t, e)) - log(1 + max(p, e)))^2 |
| `MeanAbsolutePercentageError` | 100 * mean abs(t - p) / max(abs(t), e) |
| `CategoricalCrossentropy` | -sum over classes of t * log(q), mean over positions; q is p divided by its sum over classes, then clipped to e .. 1 - e |
| `CategoricalCrossentropyFromLogits` | the same with log(q) = log_softmax(p) |
| `BinaryCrossentropy` | -sum over outputs of t * log(q) + (1 - t) * log(1 - q); q is p clipped to e .. 1 - e |
| `BinaryCrossentropyFromLogits` | the same with q = sigmoid(p), computed without overflow |

e is 1e-7. Means are over everything but the batch. The binary ones are **sums** over outputs, not means: a sample with
ten outputs weighs ten times one with a single output. A value that is NaN makes its sample NaN, and so does an infinite
one where clipping would hide it; other samples are not touched. `cutaway.dataset.class_axis` says which shapes fit.
"""  # noqa: E501 - a table's row is one line

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array
from cutaway.dataset.class_axis import class_weights, flat_pair, samples_with
from cutaway.dataset.functions import Loss

__all__ = [
    "binary_crossentropy",
    "binary_crossentropy_from_logits",
    "categorical_crossentropy",
    "categorical_crossentropy_from_logits",
    "default_losses",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
]


_EPSILON = 1e-7

# Infinity less infinity, or nothing by nothing, is NaN, and that is the answer; a warning would say nothing more.
_NAN_SPEAKS = np.errstate(divide="ignore", invalid="ignore", over="ignore")


@_NAN_SPEAKS
def mean_squared_error(ground_truth: Array, prediction: Array) -> Float32Array:
    """Return the mean squared difference of each sample.

    >>> mean_squared_error(np.array([[0.0, 2.0]]), np.array([[1.0, 0.0]])).tolist()
    [2.5]
    """
    truth, guess = flat_pair(ground_truth, prediction)
    return _means((truth - guess) ** 2)


@_NAN_SPEAKS
def mean_absolute_error(ground_truth: Array, prediction: Array) -> Float32Array:
    """Return the mean absolute difference of each sample.

    >>> mean_absolute_error(np.array([[0.0, 2.0]]), np.array([[1.0, 0.0]])).tolist()
    [1.5]
    """
    truth, guess = flat_pair(ground_truth, prediction)
    return _means(np.abs(truth - guess))


@_NAN_SPEAKS
def mean_squared_logarithmic_error(ground_truth: Array, prediction: Array) -> Float32Array:
    """Return the mean squared difference of the logarithms of each sample; values below 0 count as 0.

    >>> mean_squared_logarithmic_error(np.array([[np.e - 1]]), np.array([[0.0]])).round(3).tolist()
    [1.0]
    """
    truth, guess = flat_pair(ground_truth, prediction)
    difference = np.log1p(np.maximum(truth, _EPSILON)) - np.log1p(np.maximum(guess, _EPSILON))
    return _means(difference**2, hidden=~(np.isfinite(truth) & np.isfinite(guess)))


@_NAN_SPEAKS
def mean_absolute_percentage_error(ground_truth: Array, prediction: Array) -> Float32Array:
    """Return the mean absolute difference of each sample in per cent of the truth.

    >>> mean_absolute_percentage_error(np.array([[4.0]]), np.array([[3.0]])).tolist()
    [25.0]
    """
    truth, guess = flat_pair(ground_truth, prediction)
    shares = np.abs(truth - guess) / np.maximum(np.abs(truth), _EPSILON)
    return _means(100.0 * shares, hidden=~np.isfinite(truth))


@_NAN_SPEAKS
def categorical_crossentropy(ground_truth: Array, prediction: Array, *, axis: int = -1) -> Float32Array:
    """Return the cross-entropy of each sample, of probabilities over the class axis; ground truth one-hot or indices.

    `axis` is the class axis, the batch being axis 0. More axes (pixels, tokens) are averaged.

    >>> [loss] = categorical_crossentropy(np.array([0]), np.array([[0.5, 0.3, 0.2]]))
    >>> f"{loss:.4f}"
    '0.6931'
    """
    weights, guess = class_weights(ground_truth, prediction, axis)
    shares = guess / guess.sum(axis=-1, keepdims=True)
    logs = np.log(np.clip(shares, _EPSILON, 1.0 - _EPSILON))
    return _crossentropies(weights, logs, hidden=~np.isfinite(shares))


@_NAN_SPEAKS
def categorical_crossentropy_from_logits(ground_truth: Array, prediction: Array, *, axis: int = -1) -> Float32Array:
    """Return the cross-entropy of each sample, of logits over the class axis; large logits do not overflow.

    >>> [loss] = categorical_crossentropy_from_logits(np.array([1]), np.array([[0.0, 0.0]]))
    >>> f"{loss:.4f}"
    '0.6931'
    """
    weights, guess = class_weights(ground_truth, prediction, axis)
    shifted = guess - guess.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return _crossentropies(weights, logs, hidden=np.isnan(guess))


@_NAN_SPEAKS
def binary_crossentropy(ground_truth: Array, prediction: Array) -> Float32Array:
    """Return the binary cross-entropy of each sample, of probabilities, summed over its outputs.

    >>> [loss] = binary_crossentropy(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))
    >>> f"{loss:.4f}"
    '1.3863'
    """
    truth, guess = flat_pair(ground_truth, prediction)
    clipped = np.clip(guess, _EPSILON, 1.0 - _EPSILON)
    terms = -(truth * np.log(clipped) + (1.0 - truth) * np.log1p(-clipped))
    return _marked(terms.sum(axis=1), ~np.isfinite(guess))


@_NAN_SPEAKS
def binary_crossentropy_from_logits(ground_truth: Array, prediction: Array) -> Float32Array:
    """Return the binary cross-entropy of each sample, of logits, summed over its outputs.

    >>> [loss] = binary_crossentropy_from_logits(np.array([[1.0, 0.0]]), np.zeros((1, 2)))
    >>> f"{loss:.4f}"
    '1.3863'
    """
    truth, guess = flat_pair(ground_truth, prediction)
    terms = np.maximum(guess, 0.0) - guess * truth + np.log1p(np.exp(-np.abs(guess)))
    return _marked(terms.sum(axis=1), np.isnan(guess))


def default_losses(channel_dim: int = -1) -> tuple[Loss, ...]:
    """Return the default losses for predictions whose classes lie on `channel_dim`, the batch being axis 0.

    >>> [loss.name for loss in default_losses()][:2]
    ['MeanSquaredError', 'MeanSquaredLogarithmicError']
    """
    functions: dict[str, Callable[[Array, Array], Float32Array]] = {
        "MeanSquaredError": mean_squared_error,
        "MeanSquaredLogarithmicError": mean_squared_logarithmic_error,
        "MeanAbsoluteError": mean_absolute_error,
        "MeanAbsolutePercentageError": mean_absolute_percentage_error,
        "CategoricalCrossentropy": partial(categorical_crossentropy, axis=channel_dim),
        "BinaryCrossentropy": binary_crossentropy,
        "CategoricalCrossentropyFromLogits": partial(categorical_crossentropy_from_logits, axis=channel_dim),
        "BinaryCrossentropyFromLogits": binary_crossentropy_from_logits,
    }
    return tuple(Loss(name, function, ("ground_truth", "prediction")) for name, function in functions.items())


def _means(values: Float64Array, hidden: BoolArray | None = None) -> Float32Array:
    """Return the mean of each row; rows with a `hidden` value become NaN. A sample without values has no mean."""
    means = values.sum(axis=1) / values.shape[1] if values.shape[1] else np.full(len(values), np.nan)
    return _marked(means, hidden)


def _crossentropies(weights: Float64Array, logs: Float64Array, hidden: BoolArray) -> Float32Array:
    # A class without weight counts for nothing, even where its logarithm is infinite.
    terms = np.where(weights == 0.0, 0.0, weights * logs)
    return _means(-terms.sum(axis=-1), hidden)


def _marked(values: Float64Array, hidden: BoolArray | None) -> Float32Array:
    if hidden is not None:
        values = np.where(samples_with(hidden), np.nan, values)
    return values.astype(np.float32)
