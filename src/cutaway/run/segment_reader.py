"""Reads one segment of a growing table: follows its index, checks each batch, names what is damaged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run.checksum import CHECKSUM, checksum_function
from cutaway.run.raw_file import RawFile
from cutaway.run.segments import ENTRY, ENTRY_BYTES, Header, RawPlace, SegmentName, parse_header
from cutaway.run.stacking import read_batches
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
    rows: pa.RecordBatch


class SegmentReader:
    """One segment: where its reader stands, and its checks."""

    def __init__(self, storage: Storage, table: str, name: SegmentName) -> None:
        self._storage = storage
        self.name = name
        self._stem = f"{table}/{name.stem}"
        self._header: Header | None = None
        self._schema: pa.Schema | None = None
        self._position = 0  # in the index
        self._end = 0  # of the last indexed batch
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
        """Return the rows indexed since the last poll."""
        try:
            return [] if self._header is None and not self._open(damage) else self._follow(damage)
        except FileNotFoundError as error:
            # Written files never go away on their own; one that did takes its rows with it, not the whole table's.
            damage.append(Damage(str(error.filename), 0, None, "the file is missing"))
            self.closed = True
            return []

    def _follow(self, damage: list[Damage]) -> list[Batch]:
        data = self._storage.read(f"{self._stem}.idx", self._position)
        entries = self._good_entries(data, damage)
        self._position += len(data) // ENTRY_BYTES * ENTRY_BYTES
        if len(entries) and not entries[-1]["length"]:
            self.closed = True
            self._end = int(entries[-1]["offset"])
            entries = entries[:-1]
        return self._load(entries, damage) if len(entries) else []

    def leftovers(self) -> list[Damage]:
        """Name what lies after the last entry; worth a word only once nobody writes any more."""
        found = []
        if self._header is None:
            return [Damage(f"{self._stem}.idx", 0, None, "the index ends inside its header")]
        rest = self._storage.size(f"{self._stem}.idx") - self._position
        if rest:
            found.append(Damage(f"{self._stem}.idx", self._position, None, f"{rest} bytes of an unfinished entry"))
        rest = self._storage.size(f"{self._stem}.arrow") - self._end
        if rest > 0 and self._end:
            found.append(Damage(f"{self._stem}.arrow", self._end, None, f"{rest} bytes that no entry lists"))
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
            header = parse_header(self._storage.read(path))
        except RunFormatError as error:
            damage.append(Damage(path, 0, None, f"{error}; the stream's own schema is used"))
            header = self._header_from_stream()
        if header is None:
            return False
        stream = self._storage.read(f"{self._stem}.arrow", 0, len(header.schema_bytes))
        if stream != header.schema_bytes:
            damage.append(Damage(f"{self._stem}.arrow", 0, None, "its schema is damaged; the index's copy is used"))
        self._header = header
        self._schema = pa.ipc.read_schema(pa.py_buffer(header.schema_bytes))
        self._position, self._end = header.size, len(header.schema_bytes)
        return True

    def _header_from_stream(self) -> Header | None:
        """Rebuild a header from the segment itself; the entries' own checksums still guard what follows."""
        start = self._storage.read(f"{self._stem}.arrow", 0, 1 << 16)
        try:
            source = pa.BufferReader(start)
            pa.ipc.read_schema(pa.ipc.read_message(source))
        except (pa.ArrowInvalid, OSError, EOFError):
            return None
        return Header(CHECKSUM, start[: source.tell()])

    def _good_entries(self, data: bytes, damage: list[Damage]) -> Entries:
        """Return the entries that pass their own checksum."""
        entries: Entries = np.frombuffer(data, ENTRY, count=len(data) // ENTRY_BYTES)
        crc, covered = checksum_function(self._kind), ENTRY_BYTES - 4
        places = range(0, len(entries) * ENTRY_BYTES, ENTRY_BYTES)
        good = np.array([crc(data[at : at + covered]) for at in places], np.uint32) == entries["own"]
        for i in np.flatnonzero(~good).tolist():
            at = self._position + i * ENTRY_BYTES
            damage.append(Damage(f"{self._stem}.idx", at, None, "an index entry fails its checksum"))
        return entries if good.all() else entries[good]

    def _load(self, entries: Entries, damage: list[Damage]) -> list[Batch]:
        """Read the batches of good entries in one go, and leave out those that fail their checksum."""
        path = f"{self._stem}.arrow"
        starts, lengths = entries["offset"].astype(np.int64), entries["length"].astype(np.int64)
        first, self._end = int(starts[0]), max(self._end, int(starts[-1] + lengths[-1]))
        data = self._storage.read(path, first, self._end - first)
        starts -= first
        ends, crc = starts + lengths, checksum_function(self._kind)
        found = [crc(data[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        good = (np.array(found, np.uint32) == entries["crc"]) & (ends <= len(data))
        for i in np.flatnonzero(~good).tolist():
            reason = "the file ends before this batch does" if ends[i] > len(data) else "a batch fails its checksum"
            damage.append(Damage(path, first + int(starts[i]), int(entries["step"][i]), reason))
        if not good.any():
            return []
        rows = read_batches(data, starts[good], lengths[good], self._schema)
        return [Batch(self.name, _first_step(part, entries), part) for part in rows]


def _first_step(rows: pa.RecordBatch, entries: Entries) -> int:
    """Return the step of the first row; tables without such a column have only what the index says."""
    if "step" in rows.schema.names and len(rows):
        return int(rows["step"][0].as_py())
    return int(entries["step"][0])
