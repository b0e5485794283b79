"""Values of ONNX on torch: types, arrays, and the small tensors that steer an operator.

Half precision is computed in float32: its gradients would drown in rounding.
"""

from __future__ import annotations

import torch
from onnx import TensorProto
from torch import Tensor

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable
from cutaway.frameworks.onnx.graph import Node

__all__ = ["as_tensor", "axes_of", "integers", "torch_dtype"]

_DTYPES: dict[int, torch.dtype] = {
    TensorProto.FLOAT: torch.float32,
    TensorProto.FLOAT16: torch.float32,
    TensorProto.BFLOAT16: torch.float32,
    TensorProto.DOUBLE: torch.float64,
    TensorProto.INT8: torch.int8,
    TensorProto.INT16: torch.int16,
    TensorProto.INT32: torch.int32,
    TensorProto.INT64: torch.int64,
    TensorProto.UINT8: torch.uint8,
    TensorProto.BOOL: torch.bool,
}
# torch has these, but hardly any arithmetic for them.
_WIDER = {"uint16": "int32", "uint32": "int64", "uint64": "int64", "float16": "float32", "bfloat16": "float32"}


def torch_dtype(number: int) -> torch.dtype:
    """Return the torch type of an ONNX type number."""
    if number not in _DTYPES:
        name = TensorProto.DataType.Name(number)
        raise GradientUnavailable(f"A tensor of this model has the type {name}, which is not supported on torch.")
    return _DTYPES[number]


def as_tensor(values: Array) -> Tensor:
    """Return an array as a tensor; it shares the array's memory where that can be written to."""
    if values.dtype.name in _WIDER:
        values = values.astype(_WIDER[values.dtype.name])
    elif values.dtype.kind not in "biuf":
        raise GradientUnavailable(f"A tensor of this model holds {values.dtype}, which torch cannot.")
    return torch.from_numpy(values if values.flags.writeable and values.flags.c_contiguous else values.copy())


def integers(values: Tensor) -> list[int]:
    """Return a tensor as a flat list of integers."""
    return [int(value) for value in values.flatten().tolist()]


def axes_of(node: Node, given: Tensor | None) -> list[int] | None:
    """Return the axes of an operator that had them as an attribute and later has them as an input."""
    if given is not None:
        return integers(given)
    return node.integers("axes", []) if node.has("axes") else None
