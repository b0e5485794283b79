"""Reads many record batches of a segment as few: equal neighbours stacked, the others through Arrow's own reader.

Gives the same rows in the same order either way; checks no checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, IndexArray, Int64Array, UInt8Array
from cutaway.run.rows import PlainRows, StreamRows, TableRows, is_number

__all__ = ["NotStackable", "StackedRows", "read_rows"]


# Stacking, and a stream of Arrow's own, pay from about this many batches on.
FEWEST_TO_STACK = 64
FEWEST_TO_STREAM = 8
# A message starts with a mark and the length of its description.
PREFIX = np.dtype([("mark", "<u4"), ("description", "<u4")])


def read_rows(
    data: UInt8Array, starts: Int64Array, lengths: Int64Array, schema: pa.Schema
) -> list[tuple[int, TableRows]]:
    """Return the rows of the messages at `starts`, in order, in as few pieces as can be had cheaply.

    Each piece comes with the number of its first message.
    """
    found: list[tuple[int, TableRows]] = []
    loose: list[int] = []
    for first, last in _equal_neighbours(data, starts, lengths):
        stacked = None
        if last - first >= FEWEST_TO_STACK:
            stacked = _stack(_as_grid(data, int(starts[first]), last - first, int(lengths[first])), schema)
        if stacked is None:
            loose += range(first, last)
        else:
            found += _read_loose(data, loose, starts, lengths, schema)
            found.append((first, stacked))
            loose = []
    return found + _read_loose(data, loose, starts, lengths, schema)


def _equal_neighbours(data: UInt8Array, starts: Int64Array, lengths: Int64Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbours that have the same description, hence the same layout."""
    ends = starts + lengths
    changes = np.flatnonzero((lengths[1:] != lengths[:-1]) | (starts[1:] != ends[:-1])) + 1
    for first, last in pairwise([0, *changes.tolist(), len(starts)]):
        if last - first < FEWEST_TO_STACK:
            yield first, last
            continue
        grid = _as_grid(data, int(starts[first]), last - first, int(lengths[first]))
        described = PREFIX.itemsize + int(grid[0, : PREFIX.itemsize].view(PREFIX)["description"][0])
        told = grid[:, :described] if described % 8 or grid.shape[1] % 8 else grid.view("u8")[:, : described // 8]
        differs = (told[1:] != told[:-1]).any(axis=1)
        yield from pairwise([first, *(np.flatnonzero(differs) + first + 1).tolist(), last])


def _as_grid(data: UInt8Array, start: int, count: int, length: int) -> UInt8Array:
    """Return neighbouring messages of one length, one row each."""
    return data[start : start + count * length].reshape(count, length)


def _stack(grid: UInt8Array, schema: pa.Schema) -> StackedRows | None:
    try:
        return StackedRows(pa.ipc.read_record_batch(pa.py_buffer(grid[0]), schema), grid)
    except NotStackable:
        return None


def _read_loose(
    data: UInt8Array, loose: list[int], starts: Int64Array, lengths: Int64Array, schema: pa.Schema
) -> list[tuple[int, TableRows]]:
    """Read batches of different layouts through Arrow."""
    ends = starts + lengths
    if len(loose) >= FEWEST_TO_STREAM:
        return [(loose[0], StreamRows(data, starts[loose], ends[loose], schema))]
    batches = [pa.ipc.read_record_batch(pa.py_buffer(data[starts[i] : ends[i]]), schema) for i in loose]
    return [(i, PlainRows(batch)) for i, batch in zip(loose, batches, strict=True)]


class NotStackable(Exception):
    """A column that Arrow must read itself."""


class StackedRows(TableRows):
    """The rows of equally laid out messages: one row of `view` per message, the first of them also as a batch."""

    def __init__(self, template: pa.RecordBatch, view: UInt8Array) -> None:
        self._template = template
        self._view = view
        self._base = view.ctypes.data
        self._columns: dict[str, pa.Array] = {}
        self._repeated: dict[str, bool] = {}
        self._asked: tuple[IndexArray, IndexArray | slice, IndexArray | int] | None = None
        if self._base % 8 or view.shape[1] % 8:
            raise NotStackable  # not written by Arrow, which pads everything
        for column in template.columns:
            self._check(column)

    def __len__(self) -> int:
        return len(self._template) * len(self._view)

    def column(self, name: str) -> pa.Array:
        """Return a whole column, gathered the first time."""
        if name not in self._columns:
            self._columns[name] = self._stack(self._template[name])
        return self._columns[name]

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self._template.schema.names

    def take(self, name: str, places: IndexArray) -> pa.Array:
        """Return a column at some places, without gathering all of it where that is easy."""
        own = self._template[name]
        if own.null_count == len(own):
            return pa.nulls(len(places), own.type)
        if not is_number(own.type) or own.null_count or name in self._columns:
            return self.column(name).take(pa.array(places))
        words, start = self._as_words(own.buffers()[1], own.type.bit_width // 8)
        messages, rows = self._apart(places)
        found = words[messages, start + rows]
        return pa.Array.from_buffers(own.type, len(places), [None, _buffer(found)])

    def constant(self, name: str, places: IndexArray) -> pa.Scalar | None:
        """Return what a column holds at some places: one tensor stands in the same row of every message."""
        _, row = self._apart(places)
        own = self._template[name]
        return own[row] if isinstance(row, int) and self._row_is_same(own, row) else None

    def _apart(self, places: IndexArray) -> tuple[IndexArray | slice, IndexArray | int]:
        """Return the messages and the rows in them of some places; remembered, since columns are asked in turn."""
        if self._asked is None or self._asked[0] is not places:
            messages, rows = np.divmod(places, len(self._template))
            if len(places) == len(self._view) and (rows == rows[0]).all() and (np.diff(messages) == 1).all():
                self._asked = (places, slice(None), int(rows[0]))
            else:
                self._asked = (places, messages, rows)
        return self._asked[1:]

    def places_of(self, name: str, text: str) -> IndexArray | None:
        """Return where one text stands, if that is the same row of every message."""
        own = self._template[name]
        rows = [row for row, found in enumerate(own.to_pylist()) if found == text]
        if len(rows) != 1 or not self._row_is_same(own, rows[0]):
            return None
        return np.arange(rows[0], len(self), len(own))

    def per_message(self, name: str) -> Array | None:
        """Return each message's own number, where all of its rows have the same."""
        own = self._template[name]
        if name in self._columns or own.null_count or not len(own) or not is_number(own.type):
            return None
        words, start = self._as_words(own.buffers()[1], own.type.bit_width // 8)
        each = words[:, start : start + len(own)]
        if (each != each[:, :1]).any():
            return None
        found: Array = np.ascontiguousarray(each[:, 0]).view(own.type.to_pandas_dtype())
        return found

    def repeated(self, name: str) -> pa.Array | None:
        """Return a message's own column where all messages have the same."""
        if name not in self._repeated:
            own = self._template[name]
            self._repeated[name] = own.null_count == len(own) or all(
                self._same(buffer) for buffer in own.buffers() if buffer is not None and buffer.size
            )
        return self._template[name] if self._repeated[name] else None

    def record_batch(self) -> pa.RecordBatch:
        """Return all columns."""
        schema = self._template.schema
        return pa.RecordBatch.from_arrays([self.column(name) for name in schema.names], schema=schema)

    def _check(self, array: pa.Array) -> None:
        """Refuse what cannot be gathered, before anybody relies on it."""
        kind = array.type
        if array.null_count == len(array):
            return
        if array.offset or any(
            buffer is not None and buffer.size and not self._holds(buffer) for buffer in array.buffers()
        ):
            raise NotStackable
        if pa.types.is_string(kind):
            self._check_ends(array, None)
        elif pa.types.is_list(kind) or pa.types.is_map(kind):
            inner = [array.keys, array.items] if pa.types.is_map(kind) else [array.values]
            for part in inner:
                self._check_ends(array, len(part))
                self._check(part)
        elif not (is_number(kind) or pa.types.is_boolean(kind)):
            raise NotStackable

    def _check_ends(self, array: pa.Array, inner: int | None) -> None:
        """Refuse strings or lists that do not start at 0 and end at the same place in every message."""
        offsets = self._rows(array.buffers()[1], 4 * (len(array) + 1))[0]
        total = int(offsets[0, -4:].view("<i4")[0])
        fits = total * len(self._view) <= np.iinfo(np.int32).max and inner in (None, total)
        if not fits or offsets[:, :4].any() or (offsets[:, -4:] != offsets[0, -4:]).any():
            raise NotStackable

    def _holds(self, buffer: pa.Buffer) -> bool:
        start = buffer.address - self._base
        return bool(0 <= start <= self._view.shape[1] - buffer.size and start % 8 == 0)

    def _same(self, buffer: pa.Buffer) -> bool:
        # With the zeros after it, so that it can be compared eight bytes at a time.
        words, start = self._as_words(buffer, 8)
        rows = words[:, start : start + -(-buffer.size // words.itemsize)]
        return bool((rows == rows[0]).all())

    def _row_is_same(self, array: pa.Array, row: int) -> bool:
        """Whether one row holds the same in every message; False also where that is not easily told."""
        kind = array.type
        if array.null_count == len(array):
            return True
        if array.null_count or not (
            pa.types.is_string(kind) or (pa.types.is_list(kind) and is_number(kind.value_type))
        ):
            return False
        words, start = self._as_words(array.buffers()[1], 4)
        ends = words[:, start + row : start + row + 2]
        if (ends != ends[0]).any() or (pa.types.is_list(kind) and array.values.null_count):
            return False
        first, last = (int(end) for end in ends[0])
        width = kind.value_type.bit_width // 8 if pa.types.is_list(kind) else 1
        if first == last:
            return True
        words, start = self._as_words(array.buffers()[-1], width)
        inner = words[:, start + first : start + last]
        return bool((inner == inner[0]).all())

    def _as_words(self, buffer: pa.Buffer, width: int) -> tuple[Array, int]:
        """Return all messages in words of some bytes, and the place of a buffer among those of each message."""
        return self._view.view(f"u{width}"), (buffer.address - self._base) // width

    def _stack(self, array: pa.Array) -> pa.Array:
        kind, count = array.type, len(array) * len(self._view)
        if array.null_count == len(array):
            return pa.nulls(count, kind)
        own = array.buffers()
        validity = None if array.null_count == 0 else self._bits(own[0], len(array))
        if pa.types.is_boolean(kind):
            return pa.Array.from_buffers(kind, count, [validity, self._bits(own[1], len(array))])
        if is_number(kind):
            numbers = self._rows(own[1], len(array) * kind.bit_width // 8)[0]
            return pa.Array.from_buffers(kind, count, [validity, _buffer(numbers)])
        offsets, total = self._offsets(array)
        if pa.types.is_string(kind):
            text = _buffer(self._rows(own[2], total)[0]) if total else pa.py_buffer(b"")
            return pa.Array.from_buffers(kind, count, [validity, offsets, text])
        if pa.types.is_list(kind):
            inner = self._stack(array.values)
        else:
            pairs = [self._stack(array.keys), self._stack(array.items)]
            inner = pa.StructArray.from_arrays(pairs, fields=[kind.key_field, kind.item_field])
        return pa.Array.from_buffers(kind, count, [validity, offsets], children=[inner])

    def _rows(self, buffer: pa.Buffer, size: int) -> tuple[UInt8Array, int]:
        """Return the bytes of one buffer in every message, one row each, and where they start."""
        start = buffer.address - self._base
        return self._view[:, start : start + size], start

    def _bits(self, buffer: pa.Buffer, length: int) -> pa.Buffer:
        packed = self._rows(buffer, (length + 7) // 8)[0]
        bits = np.unpackbits(packed, axis=1, count=length, bitorder="little")
        return _buffer(np.packbits(bits.reshape(-1), bitorder="little"))

    def _offsets(self, array: pa.Array) -> tuple[pa.Buffer, int]:
        """Join the offsets of strings or lists, and return them with the length of what they count in one message."""
        length, count = len(array), len(self._view)
        each = np.ascontiguousarray(self._rows(array.buffers()[1], 4 * (length + 1))[0]).view("<i4")
        total = int(each[0, -1])
        joined = np.empty(count * length + 1, np.int32)
        shifts = np.arange(count, dtype=np.int32) * total
        np.add(each[:, :-1], shifts[:, None], out=joined[:-1].reshape(count, length))
        joined[-1] = total * count
        return _buffer(joined), total


def _buffer(array: Array) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(array))
