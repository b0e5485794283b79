"""Columns as a page holds them: typed arrays in base64, little-endian; texts as codes into a list of names."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.samples.samples import doubles_of
from cutaway.arrays import Array
from cutaway.errors import ConfigurationError

__all__ = ["is_number", "pack", "pack_column", "texts"]

KINDS = {"<f4": "f4", "<f8": "f8", "<i4": "i4", "|u1": "u1", "<u2": "u2", "<u4": "u4"}


def pack(values: Array) -> dict[str, str]:
    """Return an array of one dimension as JSON: its kind, as in `f4` or `u1`, and its bytes.

    >>> pack(np.array([1, 2], np.uint8))
    {'kind': 'u1', 'bytes': 'AQI='}
    """
    little = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
    return {"kind": KINDS[little.dtype.str], "bytes": base64.b64encode(little.tobytes()).decode()}


def is_number(column: pa.ChunkedArray) -> bool:
    """Whether a column holds numbers."""
    return bool(
        pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
    )


def texts(name: str, column: pa.ChunkedArray) -> pa.Array:
    """Return a column as texts, None where there is no value."""
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        raise ConfigurationError(f"Column {name!r} holds {column.type}, but a figure shows numbers and texts.")
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_boolean(values.type):
        values = pa.array([None if one is None else "yes" if one else "no" for one in values.to_pylist()], pa.string())
    return values.cast(pa.string())


def pack_column(name: str, column: pa.ChunkedArray) -> dict[str, Any]:
    """Return a column as JSON: numbers as such with NaN for none, anything else as codes from 1 with 0 for none."""
    if is_number(column):
        return {"name": name, "values": pack(_numbers(column))}
    coded = texts(name, column).dictionary_encode()
    codes = np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64) + 1
    names = coded.dictionary.to_pylist()
    kind = np.uint8 if len(names) < 2**8 else np.uint16 if len(names) < 2**16 else np.uint32
    return {"name": name, "values": pack(codes.astype(kind)), "names": names}


def _numbers(column: pa.ChunkedArray) -> Array:
    values = doubles_of(column)
    if pa.types.is_floating(column.type) and column.type.bit_width <= 32:
        return np.asarray(values, np.float32)
    if pa.types.is_integer(column.type) and column.null_count == 0 and np.abs(values).max(initial=0) < 2**31:
        return np.asarray(values, np.int32)
    return values
