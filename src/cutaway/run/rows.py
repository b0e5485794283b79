"""Rows that were read from a segment, before anybody needs all of their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Array, IndexArray, Int32Array, Int64Array, ObjectArray, UInt8Array
from cutaway.run.ipc_layout import gather_numbers

__all__ = ["PlainRows", "StreamRows", "TableRows", "is_number", "numbers"]


class TableRows(ABC):
    """Some rows of a table. Columns come as Arrow arrays, in the order in which they were written.

    What is said to be None where it is not known is a short cut for those who ask: they can always read the column.
    """

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def column(self, name: str) -> pa.Array:
        """Return a whole column."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether there is such a column: those of earlier releases may lack it."""

    @abstractmethod
    def record_batch(self) -> pa.RecordBatch:
        """Return all columns."""

    def take(self, name: str, places: IndexArray) -> pa.Array:
        """Return a column at some places."""
        return self.column(name).take(pa.array(places))

    def constant(self, name: str, places: IndexArray) -> pa.Scalar | None:  # noqa: ARG002 - not known here
        """Return what a column holds at all of some places, or None where it is not known to hold the same."""
        return None

    def places_of(self, name: str, text: str) -> IndexArray | None:  # noqa: ARG002
        """Return where a column of texts holds one of them, or None where that takes a search."""
        return None

    def per_message(self, name: str) -> Array | None:  # noqa: ARG002
        """Return, for each batch as it was written, the number that all of its rows have; None where not known."""
        return None

    def repeated(self, name: str) -> pa.Array | None:  # noqa: ARG002
        """Return the part that a column repeats from its first row to its last, or None where it is not known to."""
        return None


class PlainRows(TableRows):
    """Rows that Arrow has read."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __len__(self) -> int:
        return len(self._batch)

    def column(self, name: str) -> pa.Array:
        """Return a whole column."""
        return self._batch[name]

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self._batch.schema.names

    def record_batch(self) -> pa.RecordBatch:
        """Return all columns."""
        return self._batch


class StreamRows(TableRows):
    """The rows of a stream of messages of different layouts, each column read when it is asked for."""

    def __init__(self, data: UInt8Array, starts: Int64Array, ends: Int64Array, schema: pa.Schema) -> None:
        self._data = data
        self._starts = starts
        self._ends = ends
        self._schema = schema
        self._columns: dict[str, pa.Array] = {}

    def __len__(self) -> int:
        return len(self.column(self._schema.names[0]))

    def column(self, name: str) -> pa.Array:
        """Return a whole column, read the first time."""
        if name not in self._columns:
            numbers = gather_numbers(self._data, self._starts, self._schema, name)
            self._columns[name] = self._read([name])[name] if numbers is None else numbers
        return self._columns[name]

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self._schema.names

    def record_batch(self) -> pa.RecordBatch:
        """Return all columns."""
        missing = [name for name in self._schema.names if name not in self._columns]
        self._columns |= self._read(missing) if missing else {}
        return pa.RecordBatch.from_arrays([self._columns[name] for name in self._schema.names], schema=self._schema)

    def _read(self, names: list[str]) -> dict[str, pa.Array]:
        """Read some columns through Arrow."""
        messages = [self._data[start:end].data for start, end in zip(self._starts, self._ends, strict=True)]
        only = pa.ipc.IpcReadOptions(included_fields=[self._schema.get_field_index(name) for name in names])
        stream = b"".join([self._schema.serialize(), *messages])
        table = pa.ipc.open_stream(stream, options=only).read_all()
        return {name: pa.concat_arrays(table[name].chunks) for name in names}


def numbers(array: pa.Array) -> Array:
    """Return a column of integers or floats as numpy has them, without a copy where there are no nulls (else NaN).

    Arrow's own `to_numpy` imports pandas where it is installed, which takes longer than opening a run.
    """
    if len(array) and array.null_count == len(array):
        return np.full(len(array), np.nan)
    if array.null_count or not is_number(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    start = array.offset
    return np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())[start : start + len(array)]


def is_number(kind: pa.DataType) -> bool:
    """Whether a column is one of integers or floats."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def whole_numbers(column: pa.Array, missing: int) -> Int64Array:
    """Return a column of integers, with a number for those that are missing."""
    return np.asarray(pc.fill_null(column, missing).to_numpy(zero_copy_only=False)).astype(np.int64)


def coded_texts(column: pa.Array) -> tuple[list[str], Int32Array]:
    """Return the texts of a column, each once, and which of them each row has; one that is missing is empty."""
    encoded = column.dictionary_encode(null_encoding="encode")
    codes: Int32Array = encoded.indices.to_numpy(zero_copy_only=False)
    return [text or "" for text in encoded.dictionary.to_pylist()], codes


def texts(column: pa.Array) -> ObjectArray:
    """Return a column of few different texts as objects that are compared quickly."""
    words, codes = coded_texts(column)
    return np.asarray(np.array(words, object)[codes])
