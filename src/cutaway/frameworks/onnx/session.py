"""An ONNX model as a `Backend`: ONNX Runtime for outputs and layers, the executor on torch for gradients."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable, LayerUnavailable, MissingExtraError, ModelError
from cutaway.frameworks.onnx.checking import CheckedModel, checked, parsed, read_checked
from cutaway.frameworks.onnx.describing import describe
from cutaway.frameworks.onnx.graph import OnnxGraph
from cutaway.frameworks.onnx.rewriting import arrange_outputs
from cutaway.frameworks.onnx.sessions import Sessions
from cutaway.models.backend import Arrays, Backend, Gradient, Question
from cutaway.models.description import ModelDescription, TensorSpec
from cutaway.models.random_weights import shuffled_all

if TYPE_CHECKING:
    from cutaway.frameworks.onnx.executor import Executor

__all__ = ["OnnxBackend", "wrap"]

_DTYPES = {"float": "float32", "double": "float64", "string": "str"}
# Their floating-point inputs beside the first are sizes, bounds and factors of sizes.
_SIZED = {"Resize", "Upsample", "Range", "OneHot", "Clip", "Pad", "RoiAlign", "NonMaxSuppression", "Cast"}


class OnnxBackend:
    """A checked model that runs; `ready` is a session of the same model that somebody already made."""

    def __init__(self, loaded: CheckedModel, path: Path, *, ready: Any = None) -> None:
        self._executor: Executor | None = None
        outputs = arrange_outputs(loaded.proto.graph)
        self._hold(loaded, Sessions(loaded, str(path), ready=None if outputs.changed else ready))
        described = describe(loaded, self._graph, outputs, self._sessions.run, path)
        self.description, self._tensors = described.description, described.tensors
        self._obstacles = described.obstacles
        self._outputs = [spec.name for spec in self.description.outputs]

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output, by name."""
        return self._sessions.run(self._outputs, batch)

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the values of some layers, or of any other tensors that the graph names."""
        tensors = [self._tensor(name) for name in layers]
        values = self._sessions.run(list(dict.fromkeys(tensors)), batch)
        return {name: values[tensor] for name, tensor in zip(layers, tensors, strict=True)}

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output and the values of some layers, from one pass."""
        tensors = [self._tensor(name) for name in layers]
        values = self._sessions.run(list(dict.fromkeys([*self._outputs, *tensors])), batch)
        outputs = {name: values[name] for name in self._outputs}
        return outputs, {name: values[tensor] for name, tensor in zip(layers, tensors, strict=True)}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Return the gradient that was asked for; raises `GradientUnavailable` where there is none."""
        return self.gradient_with_output(batch, question)[0]

    def gradient_with_output(self, batch: Arrays, question: Question) -> tuple[Gradient, Array]:
        """Return the gradient and the output that it was taken of, from one pass on torch."""
        leaf = question.wrt if question.wrt in self._graph.inputs else self._tensor(question.wrt)
        if self._obstacles[question.output]:
            raise GradientUnavailable(self._obstacles[question.output])
        self._check_numbers(question.wrt)
        executor = self._on_torch()
        import torch

        from cutaway.frameworks.torch.scores import summed_score

        with torch.enable_grad():
            output, source = executor.run(batch, question.output, leaf)
            axis = next(spec.channel_axis for spec in self.description.outputs if spec.name == question.output)
            score = summed_score(output, question, axis)
            if not score.requires_grad:
                message = (
                    f"Output {question.output!r} does not depend on {question.wrt!r} in a way that has a gradient."
                )
                raise GradientUnavailable(message)
            (gradient,) = torch.autograd.grad(score, [source])
        given = batch.get(leaf)
        values = source.detach().numpy() if given is None else np.array(given)
        return Gradient(gradient.numpy(), values), np.array(output.detach().numpy())

    def with_random_weights(self, seed: int) -> Backend:
        """Return the same graph with its weights shuffled, for ONNX Runtime and for gradients alike."""
        loaded = _randomised(self._loaded, self._graph, seed)
        other = copy.copy(self)
        other._hold(loaded, self._sessions.of_other_weights(loaded))  # noqa: SLF001 - of the same class
        return other

    def close(self) -> None:
        """Let go of the sessions."""
        self._sessions.close()
        self._executor = None

    def _hold(self, loaded: CheckedModel, sessions: Sessions) -> None:
        self._loaded, self._sessions = loaded, sessions
        self._graph = OnnxGraph.of(loaded)
        self._executor = None

    def _tensor(self, name: str) -> str:
        if name in self._tensors:
            return self._tensors[name]
        if name in self._graph.makers:
            return name
        raise LayerUnavailable(name, list(self._tensors))

    def _check_numbers(self, name: str) -> None:
        spec = next((spec for spec in self.description.inputs if spec.name == name), None)
        if spec is None or np.dtype(spec.dtype).kind == "f":
            return
        embedding = next((layer.name for layer in self.description.layers if layer.kind == "Gather"), None)
        hint = f" Take it by the layer that they are looked up in: `wrt={embedding!r}`." if embedding else ""
        raise GradientUnavailable(f"Input {name!r} is {spec.dtype}: whole numbers have no gradient.", hint=hint)

    def _on_torch(self) -> Executor:
        if self._executor is None:
            try:
                import torch  # noqa: F401 - only whether it is there; it is an extra of its own
            except ModuleNotFoundError as error:
                raise MissingExtraError("The gradient of an ONNX model", "torch") from error
            from cutaway.frameworks.onnx.executor import Executor

            self._executor = Executor(self._graph)
        return self._executor


def wrap(session: Any) -> Backend:
    """Return a live `onnxruntime.InferenceSession` as a backend.

    Its graph is read again from the file or the bytes that it was made of; without them it can only predict.
    """
    try:
        return OnnxBackend(*_source(session), ready=session)
    except ModelError as error:
        return _PlainSession(session, str(error))


def _source(session: Any) -> tuple[CheckedModel, Path]:
    """The model behind a session. Its owner runs it already, so links are followed as ONNX Runtime did."""
    # ONNX Runtime keeps these two without a public name for them.
    path, data = getattr(session, "_model_path", None), getattr(session, "_model_bytes", None)
    if path:
        loaded = read_checked(Path(path), trust=True)
    elif data:
        path = "onnxruntime.InferenceSession"
        loaded = checked(parsed(bytes(data), Path(path)), Path(path), trust=True)
    else:
        raise ModelError("The session does not tell which file it was made of.")
    names = [value.name for value in loaded.proto.graph.output]
    if names != [value.name for value in session.get_outputs()]:
        raise ModelError(f"{str(path)!r} is not the model that the session was made of any more.", path=path)
    return loaded, Path(path)


class _PlainSession:
    """Predictions of a live session; `reason` says why its layers and gradients are out of reach."""

    def __init__(self, session: Any, reason: str) -> None:
        self._session, self._reason = session, reason
        inputs = tuple(_spec(value) for value in session.get_inputs())
        outputs = tuple(_spec(value) for value in session.get_outputs())
        notes = (f"Its graph cannot be read, so it has no layers: {reason}",)
        self.description = ModelDescription("onnx", inputs, outputs, differentiable=reason, notes=notes)

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output, by name."""
        names = [spec.name for spec in self.description.outputs]
        return dict(zip(names, self._session.run(names, dict(batch)), strict=True))

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:  # noqa: ARG002 - as the protocol has it
        """Raise `LayerUnavailable`, unless no layer is asked for."""
        for name in layers:
            raise LayerUnavailable(name, (), self._reason)
        return {}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:  # noqa: ARG002 - as the protocol has it
        """Raise `GradientUnavailable`."""
        raise GradientUnavailable(self._reason)

    def close(self) -> None:
        """Leave the session to whoever made it."""


def _spec(value: Any) -> TensorSpec:
    word = value.type.removeprefix("tensor(").removesuffix(")")
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return TensorSpec(value.name, shape, _DTYPES.get(word, word), 1 if len(shape) > 1 else None)


def _randomised(loaded: CheckedModel, graph: OnnxGraph, seed: int) -> CheckedModel:
    """Return the model with shuffled weights. Raises `AnalysisUnavailable` where it has none that can be shuffled.

    Numbers that say how large something is stay as they are, and so do those in attributes, as trees have them.
    """
    sizes = {name for node in graph.nodes if node.kind in _SIZED for name in node.inputs}
    weights = {
        name: values for name, values in graph.constants.items() if values.dtype.kind == "f" and name not in sizes
    }
    anew = shuffled_all(weights, seed)
    proto = onnx.ModelProto()
    proto.CopyFrom(loaded.proto)
    for tensor in proto.graph.initializer:
        if tensor.name in anew and tensor.name not in loaded.weights:
            tensor.CopyFrom(numpy_helper.from_array(anew[tensor.name], tensor.name))
    return CheckedModel(proto, {name: anew.get(name, values) for name, values in loaded.weights.items()})
