"""Between numpy and torch: batches going in, and whatever a model returns coming out by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cutaway.arrays import Array
from cutaway.models.description import Layer, TensorSpec

__all__ = [
    "as_array",
    "as_tensor",
    "channel_axes",
    "class_axis",
    "described",
    "dtype_name",
    "layer_axis",
    "listed",
    "loose_shape",
    "named_tensors",
]

# Classes and operators whose results have their channels on axis 1, by how their names begin.
_CHANNELS_FIRST = (
    "conv", "lazyconv", "batchnorm", "lazybatchnorm", "syncbatchnorm", "instancenorm", "groupnorm", "maxpool",
    "avgpool", "adaptiveavgpool", "adaptivemaxpool", "upsample", "pixelshuffle", "dropout1d", "dropout2d", "dropout3d",
)  # fmt: skip
# Those that have them last, whatever the number of axes.
_FEATURES_LAST = ("linear", "addmm", "layernorm", "rmsnorm", "embedding")


def named_tensors(value: Any) -> dict[str, torch.Tensor]:
    """Return the tensors in what a model returned: `output`, or `output_0`, `output_1`, ..., or the keys of a dict."""
    found = list(_tensors(value, ()))
    if len(found) == 1 and not any(isinstance(part, str) for part in found[0][0]):
        return {"output": found[0][1]}
    return {_joined(path): tensor for path, tensor in found}


def as_tensor(values: Array, device: torch.device, floating: torch.dtype | None = None) -> torch.Tensor:
    """Return a copy on a device; floating-point numbers take the dtype of the model's parameters where one is given."""
    dtype = floating if values.dtype.kind == "f" else None
    return torch.tensor(np.ascontiguousarray(values), device=device, dtype=dtype)


def as_array(tensor: torch.Tensor) -> Array:
    """Return a copy in numpy; bfloat16, which numpy does not know, becomes float32."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return np.array(tensor.resolve_conj().resolve_neg().cpu().numpy())


def dtype_name(tensor: torch.Tensor) -> str:
    """Return the name of the numpy dtype that `as_array` gives."""
    return "float32" if tensor.dtype == torch.bfloat16 else str(tensor.dtype).removeprefix("torch.")


def loose_shape(shape: tuple[int, ...], channel_axis: int | None) -> tuple[int | None, ...]:
    """Return a shape of which only the size of the channel axis is held to; a module does not declare the others."""
    held = None if channel_axis is None else channel_axis % len(shape)
    return tuple(size if axis == held and axis > 0 else None for axis, size in enumerate(shape))


def class_axis(rank: int, *, channels_first: bool = True) -> int | None:
    """Return the axis of classes or colours of an input or output; torch has it second unless a linear layer is last.

    Of three axes nothing says whether they are (samples, channels, length) or (samples, length, features).
    """
    if rank < 2:
        return None
    if not channels_first:
        return rank - 1
    return None if rank == 3 else 1


def described(name: str, tensor: torch.Tensor, *, channels_first: bool = True) -> TensorSpec:
    """Describe an input or output from one of its values."""
    axis = class_axis(tensor.dim(), channels_first=channels_first)
    return TensorSpec(name, loose_shape(tuple(tensor.shape), axis), dtype_name(tensor), axis)


def layer_axis(kind: str, rank: int | None) -> int:
    """Return the channel axis behind a layer of a class or operator; images have their channels on axis 1."""
    plain = kind.lower().replace("_", "")
    if rank == 1 or plain.startswith(_FEATURES_LAST):
        return -1
    return 1 if plain.startswith(_CHANNELS_FIRST) or (rank or 0) > 3 else -1


def channel_axes(calls: Sequence[tuple[str, tuple[int | None, ...]]]) -> list[int]:
    """Return the channel axis behind each layer, given by class and shape in the order of their calls.

    Of three axes a class such as ReLU does not say whether they are (samples, channels, length) or (samples, length,
    features): there a layer has its channels where the one before has them, if that gave the same shape.
    """
    axes: list[int] = []
    before: tuple[int | None, ...] = ()
    for kind, shape in calls:
        told = len(shape) != 3 or kind.lower().replace("_", "").startswith(_CHANNELS_FIRST + _FEATURES_LAST)
        axes.append(layer_axis(kind, len(shape)) if told or shape != before else axes[-1])
        before = shape
    return axes


def listed(name: str, kind: str, shape: tuple[int, ...] | None = None, channel_axis: int | None = None) -> Layer:
    """Describe a layer by its class, and by one of its values where there is one."""
    axis = layer_axis(kind, None if shape is None else len(shape)) if channel_axis is None else channel_axis
    return Layer(name, kind, None if not shape else loose_shape(shape, axis), axis)


def _tensors(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors(item, (*path, str(key)))
    elif isinstance(value, (tuple, list)):
        keys = getattr(value, "_fields", range(len(value)))
        for key, item in zip(keys, value, strict=True):
            yield from _tensors(item, (*path, key))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _tensors(getattr(value, field.name), (*path, field.name))


def _joined(path: tuple[str | int, ...]) -> str:
    text = "_".join(str(part) for part in path)
    return f"output_{text}" if path and isinstance(path[0], int) else text
