"""Reads ground truth and prediction along the class axis. Decides by shapes alone, never by values.

With a prediction of shape (N, ..., C), C on the class axis, ground truth of

- the same shape is one-hot (or a distribution) on that axis;
- that shape without the class axis, or with 1 in its place, is class indices from 0 to C - 1;
- any other shape is refused.

A prediction of shape (N,), or with C = 1, has a single output: one probability of the positive class.
"""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, BoolArray, Float64Array
from cutaway.errors import ConfigurationError

__all__ = ["class_weights", "flat_pair", "is_binary", "samples_with"]


def flat_pair(ground_truth: Array, prediction: Array) -> tuple[Float64Array, Float64Array]:
    """Return both as (N, values of a sample); refuses what does not pair up, since broadcasting would hide it.

    >>> truth, guess = flat_pair(np.zeros((2, 1)), np.ones(2))
    >>> truth.shape, guess.shape
    ((2, 1), (2, 1))
    """
    truth, guess = np.asarray(ground_truth, np.float64), np.asarray(prediction, np.float64)
    if truth.ndim == 0 or guess.ndim == 0 or len(truth) != len(guess) or truth.size != guess.size:
        raise ConfigurationError(
            "Ground truth and prediction must have as many samples and as many values, "
            f"but got shapes {truth.shape} and {guess.shape}."
        )
    return truth.reshape(len(truth), _width(truth)), guess.reshape(len(guess), _width(guess))


def is_binary(prediction: Array, axis: int) -> bool:
    """Whether a prediction has one output for each position: (N,), or one class on the class axis.

    >>> is_binary(np.zeros((5, 1)), -1), is_binary(np.zeros((5, 3)), -1)
    (True, False)
    """
    return prediction.ndim == 1 or prediction.shape[_axis_from_front(prediction, axis)] == 1


def class_weights(ground_truth: Array, prediction: Array, axis: int) -> tuple[Float64Array, Float64Array]:
    """Return ground truth as weights of the classes, and prediction, both as (N, positions, C).

    Class indices become one-hot; a NaN among them becomes NaN weights. An index outside 0 to C - 1 is refused.

    >>> truth, _ = class_weights(np.array([2, 0]), np.zeros((2, 3)), -1)
    >>> truth[:, 0].tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    truth, guess = np.asarray(ground_truth, np.float64), np.asarray(prediction, np.float64)
    axis = _axis_from_front(guess, axis)
    classes = guess.shape[axis]
    if classes == 1:
        raise ConfigurationError(
            f"A prediction of shape {guess.shape} has one class on axis {axis}, so its classes cannot be compared.",
            hint="Use BinaryCrossentropy, or name the class axis with `channel_dim`.",
        )
    without, one = _without(guess.shape, axis), _with_one(guess.shape, axis)
    if truth.shape == guess.shape:
        weights = np.moveaxis(truth, axis, -1)
    elif truth.shape in (without, one):
        weights = _one_hot(truth.reshape(without), classes)
    else:
        raise ConfigurationError(
            f"Ground truth of shape {truth.shape} does not fit a prediction of shape {guess.shape} with its classes on "
            f"axis {axis}: it must be one-hot {guess.shape}, or class indices {without} or {one}."
        )
    wide = np.moveaxis(guess, axis, -1)
    positions = int(np.prod(wide.shape[1:-1], dtype=np.int64))
    shape = (len(guess), positions, classes)
    return weights.reshape(shape), wide.reshape(shape)


def samples_with(mask: BoolArray) -> BoolArray:
    """Return for each sample whether the mask is set anywhere in it.

    >>> samples_with(np.array([[False, True], [False, False]])).tolist()
    [True, False]
    """
    return np.asarray(mask.reshape(len(mask), _width(mask)).any(axis=1))


def _axis_from_front(prediction: Array, axis: int) -> int:
    """Return the class axis counted from the front; axis 0 is the batch."""
    if prediction.ndim < 2 or not (axis < 0 or 0 < axis < prediction.ndim) or axis <= -prediction.ndim:
        raise ConfigurationError(
            f"A prediction of shape {prediction.shape} has no class axis {axis}: it must be one of its axes, "
            "counted with the batch as axis 0, and not the batch itself."
        )
    return axis % prediction.ndim


def _one_hot(indices: Float64Array, classes: int) -> Float64Array:
    unknown = np.isnan(indices)
    known = np.where(unknown, 0.0, indices)
    wrong = (known != np.floor(known)) | (known < 0) | (known >= classes)
    if wrong.any():
        at = tuple(int(place) for place in np.argwhere(wrong)[0])
        raise ConfigurationError(
            f"Class indices must be whole numbers from 0 to {classes - 1}, but got {indices[at]:g} in sample {at[0]} "
            f"of the batch ({int(wrong.sum())} of {wrong.size} are wrong)."
        )
    weights: Float64Array = (known[..., np.newaxis] == np.arange(classes)).astype(np.float64)
    weights[unknown] = np.nan
    return weights


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _with_one(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _width(values: Array) -> int:
    """How many values a sample has; `reshape(n, -1)` cannot say that of an empty batch."""
    return int(np.prod(values.shape[1:], dtype=np.int64))
