"""A Keras model as a `Backend`, whatever Keras runs on. A live model is the user's, and is left as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import keras

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable, LayerUnavailable, ModelError
from cutaway.frameworks.keras.anatomy import KerasAnatomy, LayerCall, anatomy_of_graph, graph_of
from cutaway.frameworks.keras.importing import SUPPORTED
from cutaway.frameworks.keras.observing import anatomy_by_observing
from cutaway.frameworks.keras.training import training_of
from cutaway.models.backend import Arrays, Backend, Gradient, Question
from cutaway.models.description import ModelDescription, SavedTraining
from cutaway.models.random_weights import shuffled_all

__all__ = ["KerasBackend", "backend_of", "wrap"]


def wrap(model: Any) -> Backend:
    """Return a backend for a live model; its training settings and its own compiled functions are not touched."""
    if not isinstance(model, keras.Model):
        raise ModelError(f"{type(model).__name__} is a part of Keras, but no model.", hint="Give a `keras.Model`.")
    return backend_of(model, "keras", training_of(model.get_compile_config()))


def backend_of(model: Any, format_name: str, training: SavedTraining) -> KerasBackend:
    """Return a backend for a model that came in some format."""
    backend = keras.backend.backend()
    if backend not in SUPPORTED:
        raise ModelError(
            f"Keras runs on {backend} here, and models are run on {' or '.join(SUPPORTED)}.",
            hint="Save the model and load the file, or set `KERAS_BACKEND`.",
        )
    graph = graph_of(model)
    if graph is None and isinstance(model, keras.Sequential) and not model.built:
        raise ModelError(
            "The Sequential model is not built.", hint="Begin it with `keras.Input(shape)`, or call it once."
        )
    anatomy = anatomy_by_observing(model) if graph is None else anatomy_of_graph(graph)
    description = ModelDescription(
        format=format_name,
        inputs=anatomy.inputs,
        outputs=anatomy.outputs,
        layers=tuple(call.layer for call in anatomy.calls),
        latent_layer=anatomy.latent,
        training=training,
        notes=anatomy.notes,
        about={"keras": keras.__version__, "backend": backend, "name": model.name},
    )
    return KerasBackend(description, anatomy, model)


class KerasBackend:
    """Names on the outside, an engine of TensorFlow or torch on the inside."""

    def __init__(self, description: ModelDescription, anatomy: KerasAnatomy, model: Any) -> None:
        self.description, self._anatomy, self._model = description, anatomy, model
        self._engine: Engine | None = _engine_for(model, anatomy)
        self._outputs = [spec.name for spec in description.outputs]
        self._calls: dict[str, LayerCall] = {call.name: call for call in anatomy.calls}

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output."""
        return dict(zip(self._outputs, self._running.predict(self._ordered(batch)), strict=True))

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return what some layers return, all in one pass."""
        return self.predict_with(batch, layers)[1]

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output and what some layers return, from one pass."""
        calls = [self._call(name) for name in layers]
        outputs, values = self._running.predict_with(self._ordered(batch), calls)
        return dict(zip(self._outputs, outputs, strict=True)), dict(zip(layers, values, strict=True))

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Return the gradient of a score or a loss by an input or a layer."""
        inputs = [spec.name for spec in self.description.inputs]
        wrt = inputs.index(question.wrt) if question.wrt in inputs else self._call(question.wrt)
        if isinstance(wrt, int) and batch[question.wrt].dtype.kind != "f":
            dtype = batch[question.wrt].dtype
            raise GradientUnavailable(
                f"Input {question.wrt!r} is {dtype}: only floating-point numbers have gradients.",
                hint="Ask by a layer.",
            )
        return self._running.gradient(self._ordered(batch), question, self._outputs.index(question.output), wrt)

    def with_random_weights(self, seed: int) -> Backend:
        """Return the same model with its weights shuffled; the variables of the model itself are not touched."""
        if self._model is None:
            raise ModelError("The model is closed.", hint="Load it again.")
        return KerasBackend(self.description, self._anatomy, _Reweighted(self._model, seed))

    def close(self) -> None:
        """Let go of the model."""
        self._engine = self._model = None
        self._calls = {}

    @property
    def _running(self) -> Engine:
        if self._engine is None:
            raise ModelError("The model is closed.", hint="Load it again.")
        return self._engine

    def _ordered(self, batch: Arrays) -> list[Any]:
        return [batch[spec.name] for spec in self.description.inputs]

    def _call(self, name: str) -> LayerCall:
        if name not in self._calls:
            raise LayerUnavailable(name, list(self._calls))
        return self._calls[name]


class _Reweighted:
    """A model to be called like the one that it is made of, which then sees other values in its variables."""

    def __init__(self, model: Any, seed: int) -> None:
        self._model = model
        variables = {str(i): one for i, one in enumerate(model.weights) if keras.backend.is_float_dtype(one.dtype)}
        anew = shuffled_all({key: keras.ops.convert_to_numpy(one) for key, one in variables.items()}, seed)
        self._state = [(variables[key], keras.ops.convert_to_tensor(values)) for key, values in anew.items()]

    @property
    def run_eagerly(self) -> bool:
        """Whether the model is never compiled."""
        return bool(getattr(self._model, "run_eagerly", False))

    def __call__(self, given: Any, *, training: bool) -> Any:
        """Return what the model returns with these weights."""
        with keras.StatelessScope(state_mapping=self._state):
            return self._model(given, training=training)


class Engine(Protocol):
    """Runs a model on what Keras runs on. Arrays are flat, in the order of the anatomy's inputs, outputs and calls."""

    def predict(self, inputs: Sequence[Array]) -> list[Array]:
        """Return every output."""

    def predict_with(self, inputs: Sequence[Array], calls: Sequence[LayerCall]) -> tuple[list[Array], list[Array]]:
        """Return every output, and what some calls return."""

    def gradient(self, inputs: Sequence[Array], question: Question, output: int, wrt: int | LayerCall) -> Gradient:
        """Return the gradient of an output, by its number, by the input of a number or by what a call returns."""


def _engine_for(model: Any, anatomy: KerasAnatomy) -> Engine:
    if keras.backend.backend() == "torch":
        from cutaway.frameworks.keras.torch_engine import TorchEngine

        return TorchEngine(model, anatomy)
    from cutaway.frameworks.keras.tensorflow_engine import TensorFlowEngine

    return TensorFlowEngine(model, anatomy)
