"""Reads many record batches of a segment as few large ones.

A training writes thousands of small batches, and most of them differ in their numbers only: the same rows, the same
names. Such neighbours have byte for byte the same description, so one of them tells where each column lies in all of
them, and numpy gathers the columns at the speed of memory instead of one batch at a time. The others go through
Arrow's own reader. Gives the same rows in the same order either way; checks no checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["read_batches"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

# Below this many equal neighbours, finding out that they are equal costs more than it saves.
FEWEST = 8
# A message starts with a mark and the length of its description.
PREFIX = np.dtype([("mark", "<u4"), ("description", "<u4")])


class _NotStackable(Exception):
    """A column that Arrow must read itself."""


def read_batches(data: bytes, starts: Ints, lengths: Ints, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Return the rows of the messages at `starts`, in order, in as few batches as can be had cheaply."""
    whole = pa.py_buffer(data)
    found: list[pa.RecordBatch] = []
    loose: list[int] = []
    for first, last in _equal_neighbours(data, starts, lengths):
        stacked = None
        if last - first >= FEWEST:
            template = pa.ipc.read_record_batch(whole.slice(int(starts[first]), int(lengths[first])), schema)
            view = _as_rows(data, int(starts[first]), last - first, int(lengths[first]))
            stacked = _stack_batches(template, whole.address + int(starts[first]), view)
        if stacked is None:
            loose += range(first, last)
        else:
            found += _read_loose(whole, starts[loose], lengths[loose], schema)
            found.append(stacked)
            loose = []
    return found + _read_loose(whole, starts[loose], lengths[loose], schema)


def _equal_neighbours(data: bytes, starts: Ints, lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbours that have the same description, hence the same layout."""
    ends = starts + lengths
    changes = np.flatnonzero((lengths[1:] != lengths[:-1]) | (starts[1:] != ends[:-1])) + 1
    bounds = [0, *changes.tolist(), len(starts)]
    for first, last in pairwise(bounds):
        if last - first < FEWEST:
            yield first, last
            continue
        view = _as_rows(data, int(starts[first]), last - first, int(lengths[first]))
        described = PREFIX.itemsize + int(view[0, : PREFIX.itemsize].view(PREFIX)["description"][0])
        differs = (view[1:, :described] != view[:-1, :described]).any(axis=1)
        cuts = [first, *(np.flatnonzero(differs) + first + 1).tolist(), last]
        yield from pairwise(cuts)


def _as_rows(data: bytes, start: int, count: int, length: int) -> Bytes:
    return np.frombuffer(data, np.uint8, count * length, start).reshape(count, length)


def _read_loose(whole: pa.Buffer, starts: Ints, lengths: Ints, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Read batches of different layouts through Arrow."""
    pieces = [whole.slice(start, length) for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)]
    if len(pieces) < FEWEST:
        return [pa.ipc.read_record_batch(piece, schema) for piece in pieces]
    stream = b"".join([schema.serialize(), *pieces])
    table = pa.ipc.open_stream(stream).read_all().combine_chunks()
    return list(table.to_batches())


def _stack_batches(template: pa.RecordBatch, base: int, view: Bytes) -> pa.RecordBatch | None:
    """Return all rows of equally laid out messages, or None where a column is of a kind that we do not gather."""
    try:
        columns = [_stack(column, base, view) for column in template.columns]
    except _NotStackable:
        return None
    return pa.RecordBatch.from_arrays(columns, schema=template.schema)


def _stack(array: pa.Array, base: int, view: Bytes) -> pa.Array:
    kind, count = array.type, len(array) * len(view)
    if array.null_count == len(array):
        return pa.nulls(count, kind)
    own = array.buffers()
    validity = None if array.null_count == 0 else _bits(own[0], len(array), base, view)
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, count, [validity, _bits(own[1], len(array), base, view)])
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = _rows(own[1], len(array) * kind.bit_width // 8, base, view)
        return pa.Array.from_buffers(kind, count, [validity, _buffer(numbers)])
    if pa.types.is_string(kind):
        offsets, total = _offsets(own[1], len(array), base, view)
        text = _buffer(_rows(own[2], total, base, view)) if total else pa.py_buffer(b"")
        return pa.Array.from_buffers(kind, count, [validity, offsets, text])
    if pa.types.is_list(kind):
        offsets, total = _offsets(own[1], len(array), base, view)
        items = _stack(_exactly(array.values, total), base, view)
        return pa.Array.from_buffers(kind, count, [validity, offsets], children=[items])
    if pa.types.is_map(kind):
        offsets, total = _offsets(own[1], len(array), base, view)
        pairs = [_stack(_exactly(part, total), base, view) for part in (array.keys, array.items)]
        entries = pa.StructArray.from_arrays(pairs, fields=[kind.key_field, kind.item_field])
        return pa.Array.from_buffers(kind, count, [validity, offsets], children=[entries])
    raise _NotStackable


def _exactly(array: pa.Array, length: int) -> pa.Array:
    if len(array) != length or array.offset:
        raise _NotStackable
    return array


def _rows(buffer: pa.Buffer, size: int, base: int, view: Bytes) -> Bytes:
    """Return the bytes of one buffer in every message, one row each."""
    start = buffer.address - base
    if start < 0 or start + size > view.shape[1]:
        raise _NotStackable  # Arrow made a copy of it somewhere else
    return view[:, start : start + size]


def _bits(buffer: pa.Buffer, length: int, base: int, view: Bytes) -> pa.Buffer:
    packed = _rows(buffer, (length + 7) // 8, base, view)
    bits = np.unpackbits(packed, axis=1, count=length, bitorder="little")
    return _buffer(np.packbits(bits.reshape(-1), bitorder="little"))


def _offsets(buffer: pa.Buffer, length: int, base: int, view: Bytes) -> tuple[pa.Buffer, int]:
    """Join the offsets of strings or lists, and return them with the length of what they count in one message."""
    each = np.ascontiguousarray(_rows(buffer, 4 * (length + 1), base, view)).view("<i4")
    total = int(each[0, -1])
    if each[:, 0].any() or (each[:, -1] != total).any() or total * len(view) > np.iinfo(np.int32).max:
        raise _NotStackable
    joined = np.empty(len(view) * length + 1, np.int32)
    shifts = np.arange(len(view), dtype=np.int32) * total
    np.add(each[:, :-1], shifts[:, None], out=joined[:-1].reshape(len(view), length))
    joined[-1] = total * len(view)
    return _buffer(joined), total


def _buffer(array: npt.NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(array))
