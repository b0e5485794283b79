"""Runs a Keras model on TensorFlow: functions of its own, traced once, so that the model's stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable
from cutaway.frameworks.keras.anatomy import KerasAnatomy, LayerCall
from cutaway.frameworks.keras.taps import tapped
from cutaway.frameworks.tensorflow.scores import summed_score
from cutaway.models.backend import Gradient, Question
from cutaway.models.batches import checked_question

__all__ = ["TensorFlowEngine"]

# Traced functions for other layers or questions; each holds a graph of the model.
MOST_TRACED = 16


class TensorFlowEngine:
    """The model as compiled functions: one for predictions, one for each set of layers and each kind of question."""

    def __init__(self, model: Any, anatomy: KerasAnatomy) -> None:
        self._model, self._anatomy = model, anatomy
        self._traced: dict[Any, Callable[..., Any]] = {}
        signature = [tf.TensorSpec(spec.shape, spec.dtype) for spec in anatomy.inputs]
        eager = bool(getattr(model, "run_eagerly", False))
        self._predict = self._outputs if eager else tf.function(self._outputs, input_signature=[signature])

    def predict(self, inputs: Sequence[Array]) -> list[Array]:
        """Return every output."""
        return [_array(value) for value in self._predict(_tensors(inputs))]

    def predict_with(self, inputs: Sequence[Array], calls: Sequence[LayerCall]) -> tuple[list[Array], list[Array]]:
        """Return every output and what the calls return; all of them in one pass."""
        key = tuple((id(call.operation), call.index) for call in calls)

        def ask(tensors: list[Any]) -> list[Any]:
            values: dict[LayerCall, Any] = {}

            def keep(call: LayerCall, value: Any) -> Any:
                values[call] = value
                return value

            with tapped(calls, keep):
                outputs = self._outputs(tensors)
            return [*outputs, *(values[call] for call in calls)]

        found = [_array(value) for value in self._function(key, ask)(_tensors(inputs))]
        count = len(self._anatomy.outputs)
        return found[:count], found[count:]

    def gradient(self, inputs: Sequence[Array], question: Question, output: int, wrt: int | LayerCall) -> Gradient:
        """Return the gradient, through a tape that watches one input or what one call returns."""
        spec = self._anatomy.outputs[output]
        shape = (len(inputs[0]), *spec.shape[1:])
        if None in shape:
            shape = self.predict(inputs)[output].shape
        question = checked_question(question, tuple(size or 0 for size in shape), spec.channel_axis)
        given = (question.loss, question.target is not None)
        key = (output, wrt if isinstance(wrt, int) else (id(wrt.operation), wrt.index), given)
        function = self._function(key, self._differentiated(question, output, wrt))
        gradient, value = function(_tensors(inputs), _optional(question.target), _optional(question.labels))
        return Gradient(_array(gradient), _array(value))

    def _differentiated(self, question: Question, output: int, wrt: int | LayerCall) -> Callable[..., Any]:
        axis = self._anatomy.outputs[output].channel_axis

        def ask(tensors: list[Any], target: Any, labels: Any) -> tuple[Any, Any]:
            watched: list[Any] = []
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                if isinstance(wrt, int):
                    watched.append(tensors[wrt])
                    tape.watch(tensors[wrt])

                def keep(_: LayerCall, value: Any) -> Any:
                    value = tf.identity(value)
                    tape.watch(value)
                    watched.append(value)
                    return value

                with tapped([] if isinstance(wrt, int) else [wrt], keep):
                    answer = self._outputs(tensors)[output]
                score = summed_score(answer, question, axis, target, labels)
            gradient = tape.gradient(score, watched[0])
            if gradient is None:
                raise GradientUnavailable(
                    f"Output {question.output!r} does not depend on {question.wrt!r} in a way that has a gradient.",
                    hint="Ask by another input, or by a layer.",
                )
            return tf.convert_to_tensor(gradient), watched[0]

        return ask

    def _function(self, key: Any, ask: Callable[..., Any]) -> Callable[..., Any]:
        """The traced form of a question, kept for the next time it is asked."""
        if not self._anatomy.traceable:
            return ask
        if key not in self._traced:
            if len(self._traced) >= MOST_TRACED:
                self._traced.pop(next(iter(self._traced)))
            self._traced[key] = tf.function(ask, reduce_retracing=True, autograph=False)
        return self._traced[key]

    def _outputs(self, tensors: list[Any]) -> list[Any]:
        given = keras.tree.pack_sequence_as(self._anatomy.structure, list(tensors))
        return list(keras.tree.flatten(self._model(given, training=False)))


def _tensors(inputs: Sequence[Array]) -> list[Any]:
    return [tf.convert_to_tensor(values) for values in inputs]


def _optional(values: Array | None) -> Any:
    return None if values is None else tf.convert_to_tensor(values)


def _array(value: Any) -> Array:
    value = tf.cast(value, tf.float32) if value.dtype == tf.bfloat16 else value
    array: Array = np.asarray(value.numpy())
    return array
