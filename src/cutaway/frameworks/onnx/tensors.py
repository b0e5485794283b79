"""What a tensor of an ONNX file declares and what it holds: sizes by arithmetic, before anything is allocated."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cutaway.arrays import Array
from cutaway.errors import ModelFormatError

__all__ = ["NUMBERS", "array_of", "check_content", "declared_bytes"]

# Types of numbers that numpy knows by itself.
NUMBERS: dict[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.INT8: "int8",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.UINT8: "uint8",
    TensorProto.UINT16: "uint16",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
    TensorProto.BOOL: "bool",
}
_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
_MOST_VALUES = 2**48
# Several to a byte.
_PACKED_BITS = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}


def declared_bytes(tensor: onnx.TensorProto, path: Path) -> int:
    """Return how many bytes a tensor of its shape and type takes; raises `ModelFormatError` for impossible ones."""
    # Beside a size of 0, which makes the product 0, another may still be more than any array can have.
    if any(size < 0 for size in tensor.dims) or math.prod(max(size, 1) for size in tensor.dims) > _MOST_VALUES:
        raise ModelFormatError(str(path), f"tensor {tensor.name!r} has an impossible shape: {tuple(tensor.dims)}.")
    return (math.prod(map(int, tensor.dims)) * _bits(tensor, path) + 7) // 8


def check_content(tensor: onnx.TensorProto, path: Path) -> None:
    """Check that a tensor holds as many values as its shape says. Raises `ModelFormatError` otherwise."""
    wanted = declared_bytes(tensor, path)
    if tensor.HasField("raw_data"):
        held, unit = len(tensor.raw_data), "bytes"
    else:
        held, unit = sum(len(getattr(tensor, field)) for field in _FIELDS), "values"
        wanted = _stored_values(tensor, wanted)
    if held != wanted:
        shape = tuple(tensor.dims)
        reason = f"tensor {tensor.name!r} of shape {shape} should hold {wanted} {unit}, but it holds {held}."
        raise ModelFormatError(str(path), f"{reason} The file is damaged, or made to mislead.")


def array_of(tensor: onnx.TensorProto) -> Array:
    """Return the values of a checked tensor, in memory of their own."""
    return np.array(numpy_helper.to_array(tensor))


def _bits(tensor: onnx.TensorProto, path: Path) -> int:
    if tensor.data_type == TensorProto.STRING:
        return 8
    try:
        name = TensorProto.DataType.Name(tensor.data_type)
        return _PACKED_BITS.get(name) or int(helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize) * 8
    except (KeyError, ValueError) as error:
        reason = f"tensor {tensor.name!r} has the unknown type {tensor.data_type}."
        raise ModelFormatError(str(path), reason) from error


def _stored_values(tensor: onnx.TensorProto, size: int) -> int:
    """How many entries the typed fields have: complex numbers take two, packed ones share bytes."""
    name = TensorProto.DataType.Name(tensor.data_type)
    if name in _PACKED_BITS:
        return size
    return math.prod(map(int, tensor.dims)) * (2 if name.startswith("COMPLEX") else 1)
