"""Reads many record batches of a segment as few: equal neighbours stacked, the others through Arrow's own reader.

Gives the same rows in the same order either way; checks no checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cutaway.arrays import Int64Array, UInt8Array
from cutaway.run.rows import PlainRows, StreamRows, TableRows
from cutaway.run.stacked_rows import NotStackable, StackedRows

__all__ = ["read_rows"]


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
