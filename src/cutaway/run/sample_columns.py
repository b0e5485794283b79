"""The columns of evaluated samples in Arrow: lists with their shape, numbers, texts; and one type out of several parts.

Pure functions of arrays; writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, BoolArray, Float32Array
from cutaway.run.rows import is_number

__all__ = [
    "COUNT",
    "ELEMENT",
    "INLINE_BYTES",
    "PREVIEW",
    "SPACE",
    "columns_of",
    "fitted_batch",
    "is_elements",
    "is_large",
    "list_column",
    "shape_of",
    "tensor_field",
    "unified_schema",
    "value_column",
    "vector_column",
]

# What is larger lies in a file of its own, so that reading a table of many samples stays quick.
INLINE_BYTES = 4096
# What the columns of a part are called that do not go into the table: latent vectors, previews, and what is counted.
SPACE, PREVIEW, COUNT = "space:", "preview:png", "count:"

# What was expected of one label of a sample (`positive` or `negative`), and the probability that it was given.
ELEMENT = pa.struct(
    {
        "label": pa.string(),
        "expected_outcome": pa.string(),
        "predicted_probability": pa.float64(),
        "id": pa.string(),
    }
)

_NUMBERS = "biuf"


def list_column(values: Array, valid: BoolArray) -> pa.Array:
    """Return one list a row of an array with a row a sample; rows that are not valid are null.

    >>> list_column(np.arange(4.0).reshape(2, 2), np.array([True, False])).to_pylist()
    [[0.0, 1.0], None]
    """
    rows = np.ascontiguousarray(values).reshape(len(values), -1)
    if rows.dtype.kind not in _NUMBERS:
        texts = [[str(one) for one in row] if good else None for row, good in zip(rows.tolist(), valid, strict=True)]
        return pa.array(texts, pa.list_(pa.string()))
    if rows.dtype == np.float16:
        rows = rows.astype(np.float32)
    offsets = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(np.where(valid, rows.shape[1], 0), out=offsets[1:])
    kept = rows if valid.all() else rows[valid]
    mask = None if valid.all() else pa.array(~valid)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(kept.reshape(-1)), mask=mask)


def tensor_field(name: str, column: pa.Array, shape: Sequence[int]) -> pa.Field:
    """Return the field of a column of lists: its metadata has the shape of one sample."""
    return pa.field(name, column.type, metadata={"shape": json.dumps([int(size) for size in shape])})


def shape_of(field: pa.Field) -> tuple[int, ...] | None:
    """Return the shape of one sample in a column of lists; None for other columns."""
    text = (field.metadata or {}).get(b"shape")
    return None if text is None else tuple(json.loads(text))


def vector_column(values: Float32Array) -> pa.Array:
    """Return latent vectors, one a row, as lists of one size."""
    flat = pa.array(np.ascontiguousarray(values, np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def value_column(values: Sequence[Any] | Array) -> pa.Array:
    """Return plain values as a column; where their types do not go together, as text.

    >>> value_column([1, None, 2.5]).to_pylist(), value_column([1, "a"]).to_pylist()
    ([1.0, None, 2.5], ['1', 'a'])
    """
    if isinstance(values, np.ndarray):
        return pa.array(values)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _mixed(values)


def is_elements(kind: pa.DataType) -> bool:
    """Whether a column holds confusion elements, a list a sample; lists that are all empty have no type of their own.

    >>> is_elements(pa.list_(ELEMENT)), is_elements(pa.list_(pa.float32()))
    (True, False)
    """
    if not pa.types.is_list(kind):
        return False
    held = kind.value_type
    return bool(
        pa.types.is_null(held)
        or (
            pa.types.is_struct(held) and {one.name: one.type for one in held} == {one.name: one.type for one in ELEMENT}
        )
    )


def is_large(field: pa.Field) -> bool:
    """Whether the values of a column of lists lie in a file of their own."""
    shape = shape_of(field)
    if shape is None or not pa.types.is_list(field.type):
        return False
    try:
        width = field.type.value_type.bit_width / 8
    except ValueError:
        return False  # text has no width; it stays in the table
    return bool(int(np.prod(shape, dtype=np.int64)) * width > INLINE_BYTES)


def unified_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Return the columns of all parts together, each with a type that holds the values of every part."""
    fields: dict[str, pa.Field] = {}
    for schema in schemas:
        for field in schema:
            known = fields.get(field.name)
            if known is None:
                fields[field.name] = field
            elif known.type != field.type:
                metadata = known.metadata or field.metadata
                fields[field.name] = pa.field(field.name, _wider(known.type, field.type), metadata=metadata)
    return pa.schema(list(fields.values()))


def fitted_batch(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns and types of a schema; what it lacks is null."""
    columns = []
    for field in schema:
        i = table.schema.get_field_index(field.name)
        columns.append(pa.nulls(len(table), field.type) if i < 0 else _cast(table.column(i), field.type))
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if column.type == wanted:
        return column
    if pa.types.is_boolean(column.type) and pa.types.is_string(wanted):
        return pa.chunked_array([[None if one is None else str(one) for one in column.to_pylist()]], pa.string())
    return column.cast(wanted)


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_null(one) or one == other:
        return other
    if pa.types.is_null(other):
        return one
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(_wider(one.value_type, other.value_type))
    if is_number(one) and is_number(other):
        return pa.from_numpy_dtype(np.promote_types(one.to_pandas_dtype(), other.to_pandas_dtype()))
    return pa.string()


def _mixed(values: Sequence[Any]) -> pa.Array:
    numbers = all(one is None or (isinstance(one, int | float) and not isinstance(one, bool)) for one in values)
    if numbers:
        return pa.array([None if one is None else float(one) for one in values], pa.float64())
    return pa.array([None if one is None else str(one) for one in values], pa.string())


def columns_of(rows: Sequence[Mapping[str, Any] | None]) -> dict[str, list[Any]]:
    """Turn rows of named values into columns; what a row lacks is null.

    >>> columns_of([{"a": 1}, None, {"b": 2}])
    {'a': [1, None, None], 'b': [None, None, 2]}
    """
    names = dict.fromkeys(name for row in rows if row for name in row)
    return {name: [None if row is None else row.get(name) for row in rows] for name in names}
