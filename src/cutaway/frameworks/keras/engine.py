"""What `KerasBackend` needs of the framework that Keras runs on; one class for TensorFlow, one for torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cutaway.arrays import Array
from cutaway.frameworks.keras.anatomy import KerasAnatomy, LayerCall
from cutaway.models.backend import Gradient, Question

__all__ = ["Engine", "engine_for"]


class Engine(Protocol):
    """Runs a model. Arrays come and go flat, in the order of the anatomy's inputs, outputs and calls."""

    def predict(self, inputs: Sequence[Array]) -> list[Array]:
        """Return every output."""

    def predict_with(self, inputs: Sequence[Array], calls: Sequence[LayerCall]) -> tuple[list[Array], list[Array]]:
        """Return every output, and what some calls return."""

    def gradient(self, inputs: Sequence[Array], question: Question, output: int, wrt: int | LayerCall) -> Gradient:
        """Return the gradient of an output, by its number, by the input of a number or by what a call returns."""


def engine_for(model: Any, anatomy: KerasAnatomy, backend: str) -> Engine:
    """Return the engine for the framework that Keras runs on in this process."""
    if backend == "torch":
        from cutaway.frameworks.keras.torch_engine import TorchEngine

        return TorchEngine(model, anatomy)
    from cutaway.frameworks.keras.tensorflow_engine import TensorFlowEngine

    return TensorFlowEngine(model, anatomy)
