"""Reads many record batches of a segment as few: equal neighbours stacked, the others through Arrow's own reader.

Gives the same rows in the same order either way; checks no checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.run.rows import NotStackable, PlainRows, Rows, StackedRows

__all__ = ["read_rows"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

# Below this many equal neighbours, finding out that they are equal costs more than it saves.
FEWEST = 8
# A message starts with a mark and the length of its description.
PREFIX = np.dtype([("mark", "<u4"), ("description", "<u4")])


def read_rows(data: Bytes, starts: Ints, lengths: Ints, schema: pa.Schema) -> list[Rows]:
    """Return the rows of the messages at `starts`, in order, in as few pieces as can be had cheaply."""
    found: list[Rows] = []
    loose: list[int] = []
    for first, last in _equal_neighbours(data, starts, lengths):
        stacked = None
        if last - first >= FEWEST:
            stacked = _stack(_as_grid(data, int(starts[first]), last - first, int(lengths[first])), schema)
        if stacked is None:
            loose += range(first, last)
        else:
            found += _read_loose(data, starts[loose], lengths[loose], schema)
            found.append(stacked)
            loose = []
    return found + _read_loose(data, starts[loose], lengths[loose], schema)


def _equal_neighbours(data: Bytes, starts: Ints, lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbours that have the same description, hence the same layout."""
    ends = starts + lengths
    changes = np.flatnonzero((lengths[1:] != lengths[:-1]) | (starts[1:] != ends[:-1])) + 1
    for first, last in pairwise([0, *changes.tolist(), len(starts)]):
        if last - first < FEWEST:
            yield first, last
            continue
        grid = _as_grid(data, int(starts[first]), last - first, int(lengths[first]))
        described = PREFIX.itemsize + int(grid[0, : PREFIX.itemsize].view(PREFIX)["description"][0])
        differs = (grid[1:, :described] != grid[:-1, :described]).any(axis=1)
        yield from pairwise([first, *(np.flatnonzero(differs) + first + 1).tolist(), last])


def _as_grid(data: Bytes, start: int, count: int, length: int) -> Bytes:
    """Return neighbouring messages of one length, one row each."""
    return data[start : start + count * length].reshape(count, length)


def _stack(grid: Bytes, schema: pa.Schema) -> StackedRows | None:
    try:
        return StackedRows(pa.ipc.read_record_batch(pa.py_buffer(grid[0]), schema), grid)
    except NotStackable:
        return None


def _read_loose(data: Bytes, starts: Ints, lengths: Ints, schema: pa.Schema) -> list[Rows]:
    """Read batches of different layouts through Arrow."""
    pieces = [data[start:end] for start, end in zip(starts.tolist(), (starts + lengths).tolist(), strict=True)]
    if len(pieces) < FEWEST:
        return [PlainRows(pa.ipc.read_record_batch(pa.py_buffer(piece), schema)) for piece in pieces]
    stream = b"".join([schema.serialize(), *(piece.data for piece in pieces)])
    table = pa.ipc.open_stream(stream).read_all().combine_chunks()
    return [PlainRows(batch) for batch in table.to_batches()]
