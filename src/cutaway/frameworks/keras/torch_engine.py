"""Runs a Keras model on torch: eager, without gradients but where they are asked for; nothing is left behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import torch

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable
from cutaway.frameworks.keras.anatomy import KerasAnatomy, LayerCall
from cutaway.frameworks.keras.taps import tapped
from cutaway.frameworks.torch.scores import summed_score
from cutaway.models.backend import Gradient, Question

__all__ = ["TorchEngine"]


class TorchEngine:
    """The model as it is; gradients go to the asked tensor only, never into the parameters."""

    def __init__(self, model: Any, anatomy: KerasAnatomy) -> None:
        self._model, self._anatomy = model, anatomy

    def predict(self, inputs: Sequence[Array]) -> list[Array]:
        """Return every output."""
        with torch.no_grad():
            return [_array(value) for value in self._outputs(_tensors(inputs))]

    def predict_with(self, inputs: Sequence[Array], calls: Sequence[LayerCall]) -> tuple[list[Array], list[Array]]:
        """Return every output and what the calls return; all of them in one pass."""
        values: dict[LayerCall, Array] = {}

        def keep(call: LayerCall, value: Any) -> Any:
            # Copied at once: a later layer may work in place.
            values[call] = _array(value)
            return value

        with torch.no_grad(), tapped(calls, keep):
            outputs = [_array(value) for value in self._outputs(_tensors(inputs))]
        return outputs, [values[call] for call in calls]

    def gradient(self, inputs: Sequence[Array], question: Question, output: int, wrt: int | LayerCall) -> Gradient:
        """Return the gradient by one input, or by what one call returns."""
        tensors = _tensors(inputs)
        watched: list[Any] = []
        if isinstance(wrt, int):
            tensors[wrt] = _leaf(tensors[wrt], question)
            watched.append(tensors[wrt])

        def keep(_: LayerCall, value: Any) -> Any:
            watched.append(_leaf(value, question))
            return watched[0]

        with torch.enable_grad(), tapped([] if isinstance(wrt, int) else [wrt], keep):
            answer = self._outputs(tensors)[output]
            score = summed_score(answer, question, self._anatomy.outputs[output].channel_axis)
        gradient = torch.autograd.grad(score, watched[0], allow_unused=True)[0] if score.requires_grad else None
        if gradient is None:
            raise GradientUnavailable(
                f"Output {question.output!r} does not depend on {question.wrt!r} in a way that has a gradient.",
                hint="Ask by another input, or by a layer.",
            )
        return Gradient(_array(gradient), _array(watched[0]))

    def _outputs(self, tensors: list[Any]) -> list[Any]:
        given = keras.tree.pack_sequence_as(self._anatomy.structure, list(tensors))
        return list(keras.tree.flatten(self._model(given, training=False)))


def _leaf(value: Any, question: Question) -> Any:
    """A tensor that gradients stop at; what leads to it costs nothing on the way back."""
    if not value.is_floating_point():
        dtype = str(value.dtype).removeprefix("torch.")
        raise GradientUnavailable(f"{question.wrt!r} is {dtype}: only floating-point numbers have gradients.")
    return value.detach().requires_grad_()


def _tensors(inputs: Sequence[Array]) -> list[Any]:
    return [keras.ops.convert_to_tensor(values) for values in inputs]


def _array(value: Any) -> Array:
    value = value.detach()
    value = value.float() if value.dtype == torch.bfloat16 else value
    return np.array(value.cpu().numpy())
