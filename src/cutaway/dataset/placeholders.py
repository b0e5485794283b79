"""What stands for arrays and models while the integration test is read for its wiring: nothing is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from cutaway.arrays import Array
from cutaway.errors import BindingError

__all__ = ["ModelPlaceholder", "Placeholder", "origin_of"]


class Placeholder(NDArrayOperatorsMixin):
    """Stands for an array; `origin` is `input.<name>`, `ground_truth.<name>`, `prediction.<name>` or empty.

    Whatever is made of it, by indexing, by numpy or by a method, has the same origin.
    """

    def __init__(self, origin: str = "") -> None:
        self.origin = origin

    def __repr__(self) -> str:
        return f"Placeholder({self.origin!r})"

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            # Protocols that are not listed here must see that they are not there.
            raise AttributeError(name)
        return Placeholder(self.origin)

    def __call__(self, *arguments: Any, **named: Any) -> Placeholder:  # noqa: ARG002
        return Placeholder(self.origin)

    def __getitem__(self, key: Any) -> Placeholder:
        return Placeholder(self.origin)

    def __iter__(self) -> Iterator[Placeholder]:
        return iter([Placeholder(self.origin)])

    def __len__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return True

    def __index__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        return np.zeros(1, dtype or np.float32)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Placeholder:
        return Placeholder(_first_origin(inputs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Placeholder:
        return Placeholder(_first_origin(args) or self.origin)


def origin_of(value: Any) -> str:
    """Return where a value comes from; empty where that is not known."""
    return value.origin if isinstance(value, Placeholder) else ""


def _first_origin(values: Any) -> str:
    if isinstance(values, list | tuple):
        return next((origin for origin in map(_first_origin, values) if origin), "")
    return origin_of(values)


@dataclass(frozen=True)
class _ModelInput:
    """What `get_inputs()` lists before the model is loaded: names that stand for positions."""

    name: str
    shape: tuple[None, ...] = ()
    type: str = "tensor(float)"


@dataclass
class ModelPlaceholder:
    """Stands for a model, called as one of Keras or torch, or run as a session of ONNX Runtime.

    Notes which encoder goes into which input; returns one placeholder for each declared prediction.
    """

    inputs: Sequence[str]
    predictions: Sequence[str]
    note: Callable[[str | int, str], None]
    _positions: dict[str, int] = field(default_factory=dict)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the predictions: one alone, several in a list."""
        given = arguments[0] if len(arguments) == 1 else arguments
        self._note_inputs(given)
        # Settings such as `training=False` have no origin, and are passed over.
        self._note_inputs(named)
        outputs = self._outputs()
        return outputs[0] if len(outputs) == 1 else outputs

    def predict(self, *arguments: Any, **named: Any) -> Any:
        """As calling it."""
        return self(*arguments, **named)

    def eval(self) -> ModelPlaceholder:
        """As a torch model: itself."""
        return self

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], *_: Any) -> list[Placeholder]:
        """Return the predictions in a list, those that are named where names are given."""
        self._note_inputs(input_feed)
        outputs = self._outputs()
        if output_names is None or len(output_names) == len(outputs):
            return outputs
        declared = dict(zip(self.predictions, outputs, strict=False))
        return [declared.get(name, Placeholder()) for name in output_names]

    def get_inputs(self) -> list[_ModelInput]:
        """Return as many inputs as encoders are bound; their names stand for their positions."""
        self._positions = {f"cutaway_model_input_{i}": i for i in range(len(self.inputs))}
        return [_ModelInput(name) for name in self._positions]

    def get_outputs(self) -> list[_ModelInput]:
        """Return the declared predictions."""
        return [_ModelInput(name) for name in self.predictions]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise BindingError(
            f"The integration test asks the model for `{name}`.",
            hint=(
                "It is read without a model to see what goes where, so use only `model(x)`, `model.predict(x)`, "
                "`session.run(...)`, `get_inputs()` and `get_outputs()`."
            ),
        )

    def _outputs(self) -> list[Placeholder]:
        return [Placeholder(f"prediction.{name}") for name in self.predictions] or [Placeholder()]

    def _note_inputs(self, given: Any) -> None:
        if isinstance(given, Mapping):
            for key, value in given.items():
                position = self._positions.get(key)
                self._note_if_input(key if position is None else position, value)
        elif isinstance(given, list | tuple):
            for position, value in enumerate(given):
                self._note_if_input(position, value)
        else:
            self._note_if_input(0, given)

    def _note_if_input(self, key: str | int, value: Any) -> None:
        origin = origin_of(value)
        if origin.startswith("input."):
            self.note(key, origin.removeprefix("input."))
