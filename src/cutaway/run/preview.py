"""A glance at a long table through its index: for lists of many runs, which must stay quick.

Reads the small index files whole, and of the rows only what it returns. What is damaged or gone is left out here;
`TableReader` names it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.errors import RunError
from cutaway.run.checksum import checksum_function
from cutaway.run.identity import Run
from cutaway.run.segments import ENTRY, ENTRY_BYTES, LARGEST_INDEX, Header, SegmentName, parse_header

__all__ = ["preview"]


class _IndexedSegment(NamedTuple):
    """One segment and the entries of its batches."""

    name: SegmentName
    header: Header
    entries: npt.NDArray[np.void]


def preview(run: Run, table: str, count: int) -> pa.Table | None:
    """Return the rows of about `count` evenly spaced batches of a table, the last among them; None while it is empty.

    Only the rows of the first worker, and only those that no later attempt replaced.
    """
    segments = _segments(run, table)
    total = sum(len(segment.entries) for segment in segments)
    picked = np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(int)) if total else ()
    batches = [batch for i in picked for batch in _read_batch(run, table, *_segment_and_entry(segments, int(i)))]
    return pa.Table.from_batches(batches) if batches else None


def _segments(run: Run, table: str) -> list[_IndexedSegment]:
    """Return the first worker's segments, with those batches that no later attempt replaced."""
    names = [name for file in run.storage.list(table) if (name := SegmentName.parse(file)) is not None]
    first = min((name.worker for name in names), default="")
    reader = run.table(table)
    segments = []
    for name in sorted((name for name in names if name.worker == first), key=lambda name: (name.attempt, name.number)):
        try:
            if run.storage.size(f"{table}/{name.stem}.idx") > LARGEST_INDEX:
                continue
            index = run.storage.read(f"{table}/{name.stem}.idx")
            header = parse_header(index)
        except (RunError, OSError):
            continue
        if header is not None:
            whole = max(len(index) - header.size, 0) // ENTRY_BYTES
            entries = np.frombuffer(index, ENTRY, count=whole, offset=header.size)
            limit = reader.limit(name)
            shown = entries["length"] > 0 if limit is None else (entries["length"] > 0) & (entries["step"] < limit)
            segments.append(_IndexedSegment(name, header, entries[shown]))
    return segments


def _segment_and_entry(segments: list[_IndexedSegment], i: int) -> tuple[_IndexedSegment, np.void]:
    """Return the i-th batch of all segments together."""
    for segment in segments:
        if i < len(segment.entries):
            return segment, segment.entries[i]
        i -= len(segment.entries)
    raise IndexError(i)


def _read_batch(run: Run, table: str, segment: _IndexedSegment, entry: np.void) -> list[pa.RecordBatch]:
    length = int(entry["length"])
    try:
        data = run.storage.read(f"{table}/{segment.name.stem}.arrow", int(entry["offset"]), length)
    except (RunError, OSError):
        return []
    if len(data) != length or checksum_function(segment.header.kind)(data) != entry["crc"]:
        return []
    schema = pa.ipc.read_schema(pa.py_buffer(segment.header.schema_bytes))
    return [pa.ipc.read_record_batch(pa.py_buffer(data), schema)]
