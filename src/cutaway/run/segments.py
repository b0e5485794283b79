"""The files of a growing table: how a segment and its index are named, laid out and written.

A segment is a plain Arrow IPC stream, `<role>-<worker>-<attempt>-<n>.arrow`. Beside it lies `.idx`: a header, a second
copy of the stream's schema, and one fixed-width entry per record batch, written after the batch. A batch without its
entry is not yet written. Tables of tensors have a third file, `.bin`, with the raw bytes that rows point into.
Reading is in tables.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, RunFormatError, StorageError
from cutaway.run.checksum import CHECKSUM, checksum, checksum_function
from cutaway.run.schemas import SCHEMAS
from cutaway.run.storage import Appender, Bytes, Storage

__all__ = [
    "ENTRY",
    "ENTRY_BYTES",
    "LARGEST_INDEX",
    "Header",
    "RawPlace",
    "SegmentName",
    "TableWriter",
    "WriterId",
    "parse_header",
]

MAGIC = b"CUTAWAY\x00"
VERSION = 0
# Magic, version, checksum kind, length of the schema, its checksum, the header's own.
HEADER = struct.Struct("<8sIIQII")
_ENTRY = struct.Struct("<QQqII")
ENTRY = np.dtype([("offset", "<u8"), ("length", "<u8"), ("step", "<i8"), ("crc", "<u4"), ("own", "<u4")])
ENTRY_BYTES = ENTRY.itemsize
# Of an index: millions of batches in one segment, far more than any has. What is larger is not ours.
LARGEST_INDEX = 128 << 20
# An entry of length 0 closes a segment: `offset` is its size, `step` the number of its batches.

SEGMENT_BYTES = 64 << 20
BLOB_BYTES = 1 << 30
# Raw tensors start at multiples of this, so that a mapped file gives aligned arrays.
ALIGNMENT = 64
_WORD = re.compile(r"[A-Za-z0-9_]+")


class WriterId(NamedTuple):
    """Who writes a file: every file has exactly one writer."""

    role: str
    worker: str
    attempt: int

    @property
    def stem(self) -> str:
        """What its files' names begin with."""
        # A dash would make the name of a segment another one, and its rows invisible.
        if not (_WORD.fullmatch(self.role) and _WORD.fullmatch(self.worker)) or self.attempt < 0:
            message = f"A writer is named by letters, digits and '_', and counts its attempts from 0, but got {self}."
            raise ConfigurationError(message)
        return f"{self.role}-{self.worker}-{self.attempt}"


class SegmentName(NamedTuple):
    """A segment's file name, taken apart."""

    role: str
    worker: str
    attempt: int
    number: int

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return f"{self.role}-{self.worker}-{self.attempt}-{self.number}"

    @classmethod
    def parse(cls, name: str) -> SegmentName | None:
        """Return the parts of an index's file name, or None for any other file."""
        stem, dot, ending = name.rpartition(".")
        parts = stem.split("-")
        if not dot or ending != "idx" or len(parts) != 4 or not (parts[2].isdigit() and parts[3].isdigit()):
            return None
        return cls(parts[0], parts[1], int(parts[2]), int(parts[3]))


class RawPlace(NamedTuple):
    """Where a raw tensor lies in a .bin file. The checksum covers its padding too."""

    offset: int
    length: int
    crc: int

    @property
    def padded_length(self) -> int:
        """The bytes that the checksum covers."""
        return self.length + -self.length % ALIGNMENT


@dataclass(frozen=True)
class Header:
    """What the start of an index says."""

    kind: int
    schema_bytes: bytes

    @property
    def size(self) -> int:
        """Where the entries start."""
        return _padded(HEADER.size + len(self.schema_bytes))

    def to_bytes(self) -> bytes:
        """Return the header and the schema's copy, padded to whole entries."""
        # The checksum covers the padding too: no byte of an index goes unwatched.
        padded = self.schema_bytes.ljust(self.size - HEADER.size, b"\x00")
        fields = (MAGIC, VERSION, self.kind, len(self.schema_bytes), checksum(padded))
        return HEADER.pack(*fields, checksum(HEADER.pack(*fields, 0)[:-4])) + padded


def parse_header(data: bytes) -> Header | None:
    """Read a header; None while its writer has not finished it. Raises `RunFormatError` when damaged or foreign."""
    if len(data) < HEADER.size:
        return None
    magic, version, kind, length, schema_crc, own = HEADER.unpack_from(data)
    if magic != MAGIC:
        message = "the index does not start with Cutaway's mark"
        raise RunFormatError(message)
    if version != VERSION:
        message = f"the index has format version {version}, and this release reads version {VERSION}"
        raise RunFormatError(message)
    if checksum_function(kind)(data[: HEADER.size - 4]) != own:
        message = "the index's header fails its checksum"
        raise RunFormatError(message)
    end = _padded(HEADER.size + length)
    if len(data) < end:
        return None
    if checksum_function(kind)(data[HEADER.size : end]) != schema_crc:
        message = "the index's copy of the schema fails its checksum"
        raise RunFormatError(message)
    return Header(kind, data[HEADER.size : HEADER.size + length])


class TableWriter:
    """Appends record batches to a table of a run; safe to call from several threads of its one process.

    A forked child that inherited it can neither append nor close: both processes would write to the same files.

    One batch is one write to the segment and one to its index. When `append` returns, the batch survives the death of
    the process. After a failed write the segment is left as it is, and the next batch starts a new one.
    """

    def __init__(self, storage: Storage, table: str, writer: WriterId) -> None:
        self._storage = storage
        self._table = table
        self.schema = SCHEMAS[table]
        self._row = pa.struct(list(self.schema))
        self._schema_bytes = self.schema.serialize().to_pybytes()
        self._stem = writer.stem
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._segment: _OpenSegment | None = None
        self._next = 0
        self.bytes_written = 0

    def append(self, batch: pa.RecordBatch, step: int) -> None:
        """Write one batch whose first step is `step`."""
        data = self._serialized(batch)
        with self._writing() as segment:
            self.bytes_written += segment.append(data, step)

    def append_records(self, records: Sequence[tuple[object, ...]], step: int) -> None:
        """Write one batch from tuples in the order of the schema: the quickest way for a few rows."""
        self.append(pa.RecordBatch.from_struct_array(pa.array(records, self._row)), step)

    def append_rows(self, columns: Mapping[str, Sequence[object] | pa.Array], step: int) -> None:
        """Write one batch from plain columns; columns left out are null."""
        self.append(self._batch(columns), step)

    def append_tensors(self, columns: Mapping[str, Sequence[object]], step: int, raw: Sequence[Array | None]) -> None:
        """Write rows whose raw bytes go to the segment's .bin file first; None stands for a row without any."""
        pieces = [array.reshape(-1).view(np.uint8).data for array in raw if array is not None]
        with self._writing() as segment:
            places = iter(segment.append_raw(self._storage, pieces)) if pieces else iter(())
            found = [None if array is None else next(places) for array in raw]
            where = {name: [place and getattr(place, name) for place in found] for name in RawPlace._fields}
            written = segment.append(self._serialized(self._batch({**columns, **where})), step)
            self.bytes_written += written + sum(place.padded_length for place in found if place is not None)

    def close(self) -> None:
        """Mark the last segment as complete; closing twice is allowed."""
        if os.getpid() == self._process:
            with self._lock:
                self._finish()

    def abandon(self) -> None:
        """Release the files without a closing mark, as after a failure of the storage."""
        if os.getpid() == self._process:
            with self._lock:
                self._leave()

    def _batch(self, columns: Mapping[str, Sequence[object] | pa.Array]) -> pa.RecordBatch:
        if not columns.keys() <= set(self.schema.names):
            unknown = sorted(columns.keys() - set(self.schema.names))
            message = f"Table {self._table!r} has no columns {unknown}; it has {self.schema.names}."
            raise ConfigurationError(message)
        length = len(next(iter(columns.values())))
        arrays = [
            _as_array(columns[field.name], field.type) if field.name in columns else pa.nulls(length, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _serialized(self, batch: pa.RecordBatch) -> pa.Buffer:
        if not batch.schema.equals(self.schema):
            message = f"A batch for table {self._table!r} must have its schema, but has {batch.schema.names}."
            raise ConfigurationError(message)
        # Nobody could ask for a row without a step, and no later attempt replace it.
        if "step" in self.schema.names and batch["step"].null_count:
            message = f"Every row of table {self._table!r} must have a step, but {batch['step'].null_count} have none."
            raise ConfigurationError(message)
        return batch.serialize()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[_OpenSegment]:
        """Give the segment to write to, and leave it behind when a write fails or is interrupted."""
        if os.getpid() != self._process:
            message = f"Process {os.getpid()} cannot write to {self._table!r}: process {self._process} does."
            raise StorageError(message)
        with self._lock:
            try:
                yield self._open_segment()
            except BaseException:
                # Also Ctrl-C: it may come after the bytes and before we counted them.
                self._leave()
                raise

    def _leave(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            segment.release()

    def _finish(self) -> None:
        # Forgotten first: where the closing mark cannot be written, the next batch still starts a new segment.
        segment, self._segment = self._segment, None
        if segment is not None:
            segment.finish()

    def _open_segment(self) -> _OpenSegment:
        if self._segment is not None and self._segment.is_full:
            self._finish()
        while self._segment is None:
            stem = f"{self._table}/{self._stem}-{self._next}"
            self._next += 1
            # A number that is taken belongs to an earlier writer of this name, which has ended: its lease was free.
            with contextlib.suppress(FileExistsError):
                self._segment = _OpenSegment(self._storage, stem, self._schema_bytes)
        return self._segment


class _OpenSegment:
    """The open files of one segment."""

    def __init__(self, storage: Storage, stem: str, schema_bytes: bytes) -> None:
        self._stem = stem
        self._batches = 0
        self._index: Appender | None = None
        self._raw: Appender | None = None
        self._stream = storage.create(f"{stem}.arrow")
        try:
            self._stream.append([schema_bytes])
            self._index = storage.create(f"{stem}.idx")
            self._index.append([Header(CHECKSUM, schema_bytes).to_bytes()])
        except OSError:
            self.release()
            raise

    @property
    def is_full(self) -> bool:
        """Whether the next batch belongs into a new segment."""
        return self._stream.size >= SEGMENT_BYTES or (self._raw is not None and self._raw.size >= BLOB_BYTES)

    def append(self, data: pa.Buffer, step: int) -> int:
        view = memoryview(data)
        offset = self._stream.append([view])
        self._entry(offset, len(view), step, checksum(view))
        self._batches += 1
        return len(view) + ENTRY_BYTES

    def append_raw(self, storage: Storage, pieces: Sequence[Bytes]) -> list[RawPlace]:
        if self._raw is None:
            self._raw = storage.create(f"{self._stem}.bin")
        places, padded, position = [], list[Bytes](), self._raw.size
        for piece in pieces:
            gap = bytes(-len(piece) % ALIGNMENT)
            places.append(RawPlace(position, len(piece), checksum(gap, checksum(piece))))
            padded += [piece, gap] if gap else [piece]
            position += len(piece) + len(gap)
        self._raw.append(padded)
        return places

    def finish(self) -> None:
        """Write the closing entry and release the files."""
        try:
            self._entry(self._stream.size, 0, self._batches, 0)
        finally:
            self.release()

    def release(self) -> None:
        for file in (self._stream, self._index, self._raw):
            if file is not None:
                file.close()

    def _entry(self, offset: int, length: int, step: int, crc: int) -> None:
        assert self._index is not None
        body = _ENTRY.pack(offset, length, step, crc, 0)[:-4]
        self._index.append([body + struct.pack("<I", checksum(body))])


def _as_array(values: Sequence[object] | pa.Array, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def _padded(size: int) -> int:
    return size + -size % ENTRY_BYTES
