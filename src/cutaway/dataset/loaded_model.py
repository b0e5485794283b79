"""A live model inside the integration test: takes and gives numpy arrays, whatever framework it is of.

Knows Keras and torch models and sessions of ONNX Runtime by their methods alone; imports none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import BindingError, did_you_mean

__all__ = ["LoadedModel"]

# The types of ONNX's inputs that numbers are cast to.
_ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}


class LoadedModel:
    """Wraps what `@tensorleap_load_model` returned; everything that is not listed here is the model's own."""

    def __init__(self, model: Any, predictions: Sequence[str]) -> None:
        self._model = model
        self._predictions = predictions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the model; its outputs come back as arrays."""
        size = _batch_size(getattr(self._model, "inputs", None))
        arguments = tuple(_given_to(self._model, _repeated(one, size)) for one in arguments)
        return self._with_declared_count(_first(_arrays(self._model(*arguments, **named)), size))

    def eval(self) -> LoadedModel:
        """Turn a module of torch to predicting; still takes and gives arrays."""
        self._model.eval()
        return self

    def predict(self, *arguments: Any, **named: Any) -> Any:
        """Call the model's `predict`."""
        size = _batch_size(getattr(self._model, "inputs", None))
        arguments = tuple(_repeated(one, size) for one in arguments)
        return self._with_declared_count(_first(_arrays(self._model.predict(*arguments, **named)), size))

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], *rest: Any) -> list[Array]:
        """Run a session: its inputs are checked by name and cast to their types."""
        specs = {spec.name: spec for spec in self._model.get_inputs()}
        _check_names(specs, input_feed)
        size = _batch_size(specs.values())
        feed = {name: _repeated(_cast(specs[name], value), size) for name, value in input_feed.items()}
        outputs: list[Array] = _first(_arrays(self._model.run(output_names, feed, *rest)), size)
        return outputs if output_names is not None else self._with_declared_count(outputs)

    def _with_declared_count(self, outputs: Any) -> Any:
        count = len(outputs) if isinstance(outputs, list | tuple | dict) else 1
        if self._predictions and count != len(self._predictions):
            raise BindingError(
                f"The model has {count} outputs, but {len(self._predictions)} predictions are declared "
                f"({', '.join(self._predictions)}).",
                hint="Give one PredictionTypeHandler for each output, in order.",
            )
        return outputs


def _check_names(specs: Mapping[str, Any], feed: Mapping[str, Any]) -> None:
    known = list(specs)
    for name in feed:
        if name not in specs:
            raise BindingError(
                f"The model has no input {name!r}.", hint=f"{did_you_mean(str(name), known)} It has {', '.join(known)}."
            )
    missing = [name for name in known if name not in feed]
    if missing:
        raise BindingError(f"The model's input {missing[0]!r} is missing.", hint=f"It has {', '.join(known)}.")


def _cast(spec: Any, value: Any) -> Array:
    values = np.asarray(value)
    wanted = _ONNX_TYPES.get(spec.type)
    return values if wanted is None or values.dtype == wanted else values.astype(wanted)


def _batch_size(inputs: Any) -> int | None:
    """Return the one batch size that a model was saved with, where that is not 1."""
    shapes = [tuple(getattr(one, "shape", ())) for one in inputs] if isinstance(inputs, Iterable) else []
    sizes = [shape[0] for shape in shapes if shape and isinstance(shape[0], int) and shape[0] > 1]
    return sizes[0] if sizes else None


def _repeated(value: Any, size: int | None) -> Any:
    """Return the one sample of an integration test as many times as a model with a fixed batch size takes."""
    if size is None:
        return value
    if isinstance(value, Mapping):
        return {name: _repeated(one, size) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_repeated(one, size) for one in value]
    fits = isinstance(value, np.ndarray) and value.ndim > 0 and len(value) == 1
    return np.repeat(value, size, axis=0) if fits else value


def _first(outputs: Any, size: int | None) -> Any:
    """Return the first sample of outputs that were made of the same one many times."""
    if size is None:
        return outputs
    if isinstance(outputs, dict):
        return {name: one[:1] for name, one in outputs.items()}
    return [one[:1] for one in outputs] if isinstance(outputs, list) else outputs[:1]


def _given_to(model: Any, value: Any) -> Any:
    """Return a value as the model takes it: modules of torch take tensors, on the device of their weights."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module) or not isinstance(value, np.ndarray):
        return value
    weight = next(model.parameters(), None)
    return torch.as_tensor(value, device=None if weight is None else weight.device)


def _arrays(outputs: Any) -> Any:
    if isinstance(outputs, Mapping):
        return {name: _array(one) for name, one in outputs.items()}
    if isinstance(outputs, list | tuple):
        return [_array(one) for one in outputs]
    return _array(outputs)


def _array(value: Any) -> Array:
    if hasattr(value, "detach"):
        # A tensor of torch that carries a gradient does not turn into an array by itself.
        value = value.detach().cpu()
    return np.asarray(value)
