"""A session of ONNX Runtime whose graph cannot be seen: it predicts, and says why it does no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cutaway.errors import GradientUnavailable, LayerUnavailable
from cutaway.models.backend import Arrays, Gradient, Question
from cutaway.models.description import ModelDescription, TensorSpec

__all__ = ["PlainSession"]

_DTYPES = {"float": "float32", "double": "float64", "string": "str"}


class PlainSession:
    """Predictions of a live session; `reason` says why its layers and gradients are out of reach."""

    def __init__(self, session: Any, reason: str) -> None:
        self._session, self._reason = session, reason
        inputs = tuple(_spec(value) for value in session.get_inputs())
        outputs = tuple(_spec(value) for value in session.get_outputs())
        notes = (f"Its graph cannot be read, so it has no layers: {reason}",)
        self._description = ModelDescription("onnx", inputs, outputs, differentiable=reason, notes=notes)

    @property
    def description(self) -> ModelDescription:
        """What the session says of itself."""
        return self._description

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output, by name."""
        names = [spec.name for spec in self._description.outputs]
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
