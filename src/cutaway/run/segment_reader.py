"""Reads one segment of a growing table: follows its index, checks each batch, names what is damaged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.arrays import IndexArray, Int64Array, UInt8Array
from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run.checksum import CHECKSUM, checksums, checksums_of_rows
from cutaway.run.raw_file import RawFile
from cutaway.run.rows import TableRows
from cutaway.run.schemas import SCHEMAS
from cutaway.run.segments import ENTRY, ENTRY_BYTES, LARGEST_INDEX, Header, RawPlace, SegmentName, parse_header
from cutaway.run.stacking import read_rows
from cutaway.run.storage import Storage

__all__ = ["Batch", "Damage", "SegmentReader"]

Entries = npt.NDArray[np.void]


class Damage(NamedTuple):
    """Bytes that are not what was written."""

    path: str
    offset: int
    step: int | None
    reason: str


class Batch(NamedTuple):
    """Rows of one or several neighbouring batches, the first step among them, and who wrote them."""

    segment: SegmentName
    step: int
    content: TableRows

    @property
    def rows(self) -> pa.RecordBatch:
        """All rows with all columns; `content` gives single columns for less."""
        return self.content.record_batch()


class SegmentReader:
    """One segment: where its reader stands, and its checks."""

    def __init__(self, storage: Storage, table: str, name: SegmentName) -> None:
        self._storage = storage
        self.name = name
        self._table = table
        self._stem = f"{table}/{name.stem}"
        self._named: set[Damage] = set()
        self._header: Header | None = None
        self._schema: pa.Schema | None = None
        self._position = 0  # in the index
        self._end = 0  # of the last indexed batch
        self._all: Entries | None = None  # once there will be no more
        self._raw: RawFile | None = None
        self.closed = False

    @property
    def raw(self) -> RawFile:
        """The segment's raw tensors."""
        if self._raw is None:
            self._raw = RawFile(self._storage, f"{self._stem}.bin", self._kind)
            if self.closed:
                self._raw.settle()
        return self._raw

    def poll(self, damage: list[Damage]) -> list[Batch]:
        """Return the rows indexed since the last poll; each damage is named once, however often it is met."""
        batches: list[Batch] = []
        with self._naming(damage) as found:
            if self._header is not None or self._open(found):
                batches = self._follow(found)
        return batches

    def steps(self, damage: list[Damage]) -> Int64Array:
        """Return the first step of each batch that is indexed, from the index alone."""
        entries: Entries = np.empty(0, ENTRY)
        with self._naming(damage) as found:
            entries, _ = self._listed(found)
        return entries["step"].astype(np.int64)

    def between(self, start: int, stop: int, damage: list[Damage], size: int) -> Iterator[Batch]:
        """Yield the batches that may hold steps from `start` to before `stop`, about `size` bytes of them at a time.

        They hold some steps around them too. For a reader of its own: one that polls would hear of the same rows again.
        """
        with self._naming(damage) as found:
            entries, closed = self._listed(found)
            first = max(int(np.searchsorted(entries["step"], start, "right")) - 1, 0)
            entries = entries[first : int(np.searchsorted(entries["step"], stop))]
            blocks = (np.cumsum(entries["length"]) // np.uint64(size)).astype(np.int64)
            for piece in np.split(entries, np.flatnonzero(np.diff(blocks)) + 1) if len(entries) else ():
                yield from self._load(piece, found, closing=closed)

    def _listed(self, damage: list[Damage]) -> tuple[Entries, bool]:
        """Return all entries of whole batches, and whether there will be no more."""
        if self._all is not None:
            return self._all, True
        if self._header is None and not self._open(damage):
            return np.empty(0, ENTRY), False
        entries, _ = self._good_entries(self._read("idx", self._position), damage)
        closed = bool(len(entries)) and not entries[-1]["length"]
        entries = entries[entries["length"] > 0]
        entries = entries[entries["offset"] + entries["length"] <= self._size("arrow")]
        self._all = entries if closed else None
        return entries, closed

    @contextlib.contextmanager
    def _naming(self, damage: list[Damage]) -> Iterator[list[Damage]]:
        """Collect damage, and pass on what has not been named before."""
        found: list[Damage] = []
        try:
            yield found
        except RunDamaged as error:
            # A file that is gone, or on a failing disk, takes its rows with it, not the whole table's.
            found.append(Damage(error.path, error.offset, None, error.reason))
        finally:
            damage += [one for one in found if one not in self._named]
            self._named.update(found)

    def _follow(self, damage: list[Damage]) -> list[Batch]:
        data = self._read("idx", self._position)
        count = len(data) // ENTRY_BYTES
        entries, places = self._good_entries(data, damage)
        closing = bool(len(entries)) and not entries[-1]["length"]
        end = int(entries[-1]["offset"]) if closing else self._end
        if closing:
            entries = entries[:-1]
        elif len(entries):
            # On a network file system the index may be ahead of its batches: those are not there yet.
            late = entries["offset"] + entries["length"] > self._size("arrow")
            if late.any():
                entries, count = entries[~late], int(places[late.argmax()])
        batches = self._load(entries, damage, closing=closing) if len(entries) else []
        self._position += count * ENTRY_BYTES
        self.closed, self._end = closing, max(self._end, end)
        if closing and self._raw is not None:
            self._raw.settle()
        return batches

    def leftovers(self) -> list[Damage]:
        """Name what lies after the last entry; worth a word only once nobody writes any more."""
        found = []
        if self._header is None:
            reason = "the index ends inside its header"
            return [] if self._named else [Damage(f"{self._stem}.idx", 0, None, reason)]
        try:
            rest, stream = self._size("idx") - self._position, self._size("arrow")
        except RunDamaged:
            return []  # the poll has named it
        if rest >= ENTRY_BYTES:
            found.append(Damage(f"{self._stem}.arrow", stream, None, "it ends before the batches that its index lists"))
        elif rest:
            found.append(Damage(f"{self._stem}.idx", self._position, None, f"{rest} bytes of an unfinished entry"))
        if stream > self._end:
            found.append(
                Damage(f"{self._stem}.arrow", self._end, None, f"{stream - self._end} bytes that no entry lists")
            )
        if not self.closed:
            found.append(Damage(f"{self._stem}.idx", self._position, None, "the segment was not closed"))
        return found

    def check_raw(self, batch: Batch) -> Iterable[Damage]:
        """Check the raw bytes that rows point at."""
        if "offset" not in batch.rows.schema.names:
            return
        columns = (batch.rows[name].to_pylist() for name in ("step", "tensor", "offset", "length", "crc"))
        for step, tensor, offset, length, crc in zip(*columns, strict=True):
            if offset is not None:
                try:
                    self.raw.view(RawPlace(offset, length, crc))
                except RunDamaged as error:
                    yield Damage(error.path, offset, step, f"tensor {tensor!r}: {error.reason}")

    @property
    def _kind(self) -> int:
        return CHECKSUM if self._header is None else self._header.kind

    def _open(self, damage: list[Damage]) -> bool:
        """Read the header and the schema, from whichever copy is whole."""
        path = f"{self._stem}.idx"
        try:
            if self._size("idx") > LARGEST_INDEX:
                raise RunDamaged(path, 0, f"it is larger than {LARGEST_INDEX >> 20} MB")
            header = parse_header(self._read("idx"))
        except RunFormatError as error:
            header = self._header_from_stream()
            used = "the stream's own schema is used" if header else "and the stream's own schema is damaged too"
            damage.append(Damage(path, 0, None, f"{error}; {used}"))
        if header is None:
            return False
        stream = self._read("arrow", 0, len(header.schema_bytes))
        if stream != header.schema_bytes:
            damage.append(Damage(f"{self._stem}.arrow", 0, None, "its schema is damaged; the index's copy is used"))
        self._header = header
        self._schema = pa.ipc.read_schema(pa.py_buffer(header.schema_bytes))
        self._position, self._end = header.size, len(header.schema_bytes)
        return True

    def _header_from_stream(self) -> Header | None:
        """Rebuild a header from the segment itself; the entries' own checksums still guard what follows."""
        start = self._read("arrow", 0, 1 << 16)
        try:
            source = pa.BufferReader(start)
            schema = pa.ipc.read_schema(pa.ipc.read_message(source))
        except (pa.ArrowException, OSError, EOFError):
            return None
        # No checksum covers this copy: a flipped bit in it could give a column another name.
        return Header(CHECKSUM, start[: source.tell()]) if schema.equals(SCHEMAS[self._table]) else None

    def _read(self, ending: str, offset: int = 0, length: int | None = None) -> bytes:
        try:
            return self._storage.read(f"{self._stem}.{ending}", offset, length)
        except OSError as error:
            raise RunDamaged(f"{self._stem}.{ending}", offset, _unreadable(error)) from error

    def _size(self, ending: str) -> int:
        try:
            return self._storage.size(f"{self._stem}.{ending}")
        except OSError as error:
            raise RunDamaged(f"{self._stem}.{ending}", 0, _unreadable(error)) from error

    def _good_entries(self, data: bytes, damage: list[Damage]) -> tuple[Entries, IndexArray]:
        """Return the entries that pass their own checksum, and which ones of all they are."""
        entries: Entries = np.frombuffer(data, ENTRY, count=len(data) // ENTRY_BYTES)
        rows = np.frombuffer(data, np.uint8, len(entries) * ENTRY_BYTES).reshape(-1, ENTRY_BYTES)
        good = checksums_of_rows(rows[:, : ENTRY_BYTES - 4], self._kind) == entries["own"]
        for i in np.flatnonzero(~good).tolist():
            at = self._position + i * ENTRY_BYTES
            damage.append(Damage(f"{self._stem}.idx", at, None, "an index entry fails its checksum"))
        return entries if good.all() else entries[good], np.flatnonzero(good)

    def _load(self, entries: Entries, damage: list[Damage], *, closing: bool) -> list[Batch]:
        """Read the batches of good entries in one go, and leave out those that fail their checksum."""
        path = f"{self._stem}.arrow"
        starts, lengths = entries["offset"].astype(np.int64), entries["length"].astype(np.int64)
        first, end = int(starts[0]), int(starts[-1] + lengths[-1])
        data = self._bytes(first, end, closing=closing)
        self._end = max(self._end, end)
        starts -= first
        ends = starts + lengths
        found = checksums(data, starts.tolist(), ends.tolist(), self._kind)
        good = (found == entries["crc"]) & (ends <= len(data))
        for i in np.flatnonzero(~good).tolist():
            reason = "the file ends before this batch does" if ends[i] > len(data) else "a batch fails its checksum"
            damage.append(Damage(path, first + int(starts[i]), int(entries["step"][i]), reason))
        if not good.any():
            return []
        rows, steps = read_rows(data, starts[good], lengths[good], self._schema), entries["step"][good]
        return [Batch(self.name, int(steps[first]), part) for first, part in rows]

    def _bytes(self, first: int, end: int, *, closing: bool) -> UInt8Array:
        """Return part of the stream: in place where the segment is complete and the storage can."""
        if closing and hasattr(self._storage, "map"):
            try:
                return np.frombuffer(self._storage.map(f"{self._stem}.arrow"), np.uint8)[first:end]
            except OSError as error:
                raise RunDamaged(f"{self._stem}.arrow", first, _unreadable(error)) from error
        return np.frombuffer(self._read("arrow", first, end - first), np.uint8)


def _unreadable(error: OSError) -> str:
    return f"it cannot be read: {error.strerror or error}"
