"""The number that a gradient is taken of: a class score or a named loss of each sample, summed over the samples.

The formulas of the losses are those of `cutaway.dataset.losses`, here on TensorFlow so that a tape can follow them.
What depends on values (a class that is not there) is checked before, by `checked_question`: graphs cannot raise it.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from cutaway.errors import GradientUnavailable
from cutaway.models.backend import Question

__all__ = ["summed_score"]

_SMALLEST = 1e-7  # what probabilities are kept away from 0 and 1 by, as in Keras


def summed_score(output: Any, question: Question, channel_axis: int | None, target: Any, labels: Any) -> Any:
    """Return the sum over samples of the scalar that `Question` defines, of one output of a model.

    `target` and `labels` are those of the question as tensors, after `checked_question`; None where it has none.
    """
    if not output.dtype.is_floating:
        name = output.dtype.name
        raise GradientUnavailable(f"Output {question.output!r} is {name}: only floating-point numbers have gradients.")
    output = tf.cast(output, tf.float64 if output.dtype == tf.float64 else tf.float32)
    if question.loss is None:
        return tf.reduce_sum(_class_scores(output, channel_axis, target))
    labels = tf.cast(labels, output.dtype)
    if question.loss.startswith("Categorical"):
        axis = -1 if channel_axis is None else channel_axis
        return _crossentropy(output, labels, axis, logits=question.loss.endswith("FromLogits"))
    return _elementwise(output, labels, question.loss)


def _class_scores(output: Any, channel_axis: int | None, target: Any) -> Any:
    if output.shape.rank < 2 or channel_axis is None or output.shape[channel_axis] == 1:
        return output
    classes = _last(output, channel_axis)
    rank = classes.shape.rank
    scores = tf.reduce_sum(classes, axis=list(range(1, rank - 1))) if rank > 2 else classes
    if target is None:
        return tf.reduce_max(scores, axis=1)
    return tf.gather(scores, target, axis=1, batch_dims=1)


def _elementwise(output: Any, labels: Any, loss: str) -> Any:
    rows = tf.maximum(tf.shape(output)[0], 1)
    per_sample = tf.cast(tf.maximum(tf.size(output) // rows, 1), output.dtype)
    if loss == "MeanSquaredError":
        return tf.reduce_sum(tf.square(output - labels)) / per_sample
    if loss == "MeanAbsoluteError":
        return tf.reduce_sum(tf.abs(output - labels)) / per_sample
    if loss == "BinaryCrossentropyFromLogits":
        return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=output))
    likely = tf.clip_by_value(output, _SMALLEST, 1 - _SMALLEST)
    return -tf.reduce_sum(labels * tf.math.log(likely) + (1 - labels) * tf.math.log(1 - likely))


def _crossentropy(output: Any, truth: Any, axis: int, *, logits: bool) -> Any:
    classes = _last(output, axis)
    if logits:
        log_likely = tf.nn.log_softmax(classes, axis=-1)
    else:
        likely = classes / tf.reduce_sum(classes, axis=-1, keepdims=True)
        log_likely = tf.math.log(tf.clip_by_value(likely, _SMALLEST, 1 - _SMALLEST))
    rows = tf.maximum(tf.shape(classes)[0], 1)
    places = tf.maximum(tf.size(classes) // (tf.shape(classes)[-1] * rows), 1)
    return -tf.reduce_sum(truth * log_likely) / tf.cast(places, classes.dtype)


def _last(output: Any, axis: int) -> Any:
    """The output with its classes on the last axis."""
    rank = output.shape.rank
    axis = axis % rank
    if axis == rank - 1:
        return output
    return tf.transpose(output, [*(i for i in range(rank) if i != axis), axis])
