"""Columns of texts that anybody may have written: what is no UTF-8 is shown as bytes, and fails nowhere."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["is_text", "readable_texts"]


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def readable_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose texts can be read; one of other values as it is."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        plain = column.cast(pa.large_binary()).to_pylist()
        texts = [None if one is None else one.decode("utf-8", "backslashreplace") for one in plain]
        return pa.chunked_array([pa.array(texts, column.type)])
    return column
