"""One signature of a SavedModel as a `Backend`: its graph with the variables written in, cut to what is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable, LayerUnavailable, ModelError
from cutaway.frameworks.tensorflow.frozen import batch_first, candidates, flattened, head_input, randomised
from cutaway.frameworks.tensorflow.scores import summed_score
from cutaway.models.backend import Arrays, Backend, Gradient, Question
from cutaway.models.batches import checked_question
from cutaway.models.description import ModelDescription, TensorSpec

__all__ = ["SignatureBackend", "backend_of"]

# Graphs that were cut for other layers or questions.
MOST_CUT = 16


def backend_of(function: Any, inputs: Sequence[TensorSpec], *, about: Mapping[str, Any]) -> SignatureBackend:
    """Return a backend for a signature of a loaded SavedModel; what was loaded is not needed after that."""
    frozen = flattened(function)
    named = dict(zip(sorted(function.structured_outputs), frozen.outputs, strict=True))
    outputs = tuple(_output(name, tensor) for name, tensor in named.items())
    found = batch_first(frozen, candidates(frozen, inputs[0].batch_size), inputs)
    layers = [layer for _, layer in found]
    description = ModelDescription(
        format="saved_model",
        inputs=tuple(inputs),
        outputs=outputs,
        layers=tuple(layers),
        latent_layer=head_input(next(iter(named.values())), layers),
        about=about,
    )
    return SignatureBackend(description, frozen, named, {layer.name: tensor for tensor, layer in found})


class SignatureBackend:
    """A frozen graph; `outputs` and `layers` are its tensors by name."""

    def __init__(
        self, description: ModelDescription, frozen: Any, outputs: Mapping[str, Any], layers: Mapping[str, Any]
    ) -> None:
        self.description, self._outputs, self._layers = description, outputs, layers
        self._frozen: Any = frozen
        self._cut: dict[Any, Any] = {}
        self._predict = _compiled(frozen, description.inputs)

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output."""
        self._check_open()
        values = self._predict(*self._tensors(batch))
        return {name: _array(value) for name, value in zip(self._outputs, values, strict=True)}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return what some operations give, all in one pass."""
        wanted = [self._layer(name) for name in layers]
        if not wanted:
            return {}
        values = self._part(self._running.inputs, wanted, compiled=True)(*self._tensors(batch))
        return {name: _array(value) for name, value in zip(layers, values, strict=True)}

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output and what some operations give, from one pass."""
        fetches = [*self._outputs.values(), *(self._layer(name) for name in layers)]
        values = [_array(value) for value in self._part(self._running.inputs, fetches)(*self._tensors(batch))]
        count = len(self._outputs)
        return dict(zip(self._outputs, values[:count], strict=True)), dict(zip(layers, values[count:], strict=True))

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Return the gradient by an input, or by what an operation gives: then the graph is cut open there."""
        tensors = self._tensors(batch)
        feeds, inputs = list(self._running.inputs), [spec.name for spec in self.description.inputs]
        if question.wrt in inputs:
            at = inputs.index(question.wrt)
        else:
            feeds.append(self._layer(question.wrt))
            tensors.append(tf.convert_to_tensor(self.activations(batch, [question.wrt])[question.wrt]))
            at = len(feeds) - 1
        if not tensors[at].dtype.is_floating:
            name = tensors[at].dtype.name
            raise GradientUnavailable(f"{question.wrt!r} is {name}: only floating-point numbers have gradients.")
        spec = next(one for one in self.description.outputs if one.name == question.output)
        function = self._part(feeds, [self._outputs[question.output]])
        with tf.GradientTape() as tape:
            tape.watch(tensors[at])
            answer = function(*tensors)[0]
            question = checked_question(question, tuple(answer.shape.as_list()), spec.channel_axis)
            target = None if question.target is None else tf.convert_to_tensor(question.target)
            score = summed_score(answer, question, spec.channel_axis, target, question.labels)
        gradient = tape.gradient(score, tensors[at])
        if gradient is None:
            raise GradientUnavailable(
                f"Output {question.output!r} does not depend on {question.wrt!r} in a way that has a gradient."
            )
        return Gradient(_array(tf.convert_to_tensor(gradient)), _array(tensors[at]))

    def with_random_weights(self, seed: int) -> Backend:
        """Return the same graph with its weights shuffled."""
        other = randomised(self._running, seed)
        outputs, layers = (
            {name: other.graph.get_tensor_by_name(tensor.name) for name, tensor in side.items()}
            for side in (self._outputs, self._layers)
        )
        return SignatureBackend(self.description, other, outputs, layers)

    def close(self) -> None:
        """Let go of the graph."""
        self._frozen = self._predict = None
        self._cut = {}

    @property
    def _running(self) -> Any:
        self._check_open()
        return self._frozen

    def _check_open(self) -> None:
        if self._frozen is None:
            raise ModelError("The model is closed.", hint="Load it again.")

    def _part(self, feeds: Sequence[Any], fetches: Sequence[Any], *, compiled: bool = False) -> Any:
        key = (tuple(one.name for one in feeds), tuple(one.name for one in fetches), compiled)
        if key not in self._cut:
            if len(self._cut) >= MOST_CUT:
                self._cut.pop(next(iter(self._cut)))
            part = self._running.prune(list(feeds), list(fetches))
            self._cut[key] = _compiled(part, self.description.inputs) if compiled else part
        return self._cut[key]

    def _tensors(self, batch: Arrays) -> list[Any]:
        return [tf.convert_to_tensor(batch[spec.name]) for spec in self.description.inputs]

    def _layer(self, name: str) -> Any:
        if name not in self._layers:
            raise LayerUnavailable(name, list(self._layers))
        return self._layers[name]


def _compiled(function: Any, inputs: Sequence[TensorSpec]) -> Any:
    """The function once more traced: its constants are then folded, which a frozen graph alone does not do."""
    signature = [tf.TensorSpec(spec.shape, spec.dtype) for spec in inputs]

    def traced(*tensors: Any) -> Any:
        return function(*tensors)

    return tf.function(traced, input_signature=signature, autograph=False)


def _output(name: str, tensor: Any) -> TensorSpec:
    shape = tuple(tensor.shape.as_list()) if tensor.shape.rank is not None else ()
    dtype = "float32" if tensor.dtype == tf.bfloat16 else tensor.dtype.name
    return TensorSpec(name, shape, dtype, -1 if len(shape) > 1 else None)


def _array(value: Any) -> Array:
    value = tf.cast(value, tf.float32) if value.dtype == tf.bfloat16 else value
    array: Array = np.asarray(value.numpy())
    return array
