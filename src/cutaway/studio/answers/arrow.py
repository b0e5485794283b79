"""Answers in Arrow: bulk columns travel as one IPC stream, never as lists in JSON.

Texts may be anybody's: what is no UTF-8 is shown as bytes, and fails nowhere.
"""

from __future__ import annotations

import pyarrow as pa
from fastapi import Response

__all__ = ["ARROW", "ArrowResponse", "arrow_answer", "is_text", "readable_texts"]

ARROW = "application/vnd.apache.arrow.stream"


class ArrowResponse(Response):
    """An Arrow IPC stream."""

    media_type = ARROW


def arrow_answer(table: pa.Table) -> ArrowResponse:
    """Return a table as the body of an answer; what is to be said beside the columns is in the schema's metadata."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        # One batch: the page reads each column as one array, without copying.
        writer.write_table(table.combine_chunks())
    return ArrowResponse(sink.getvalue().to_pybytes())


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
