"""Reading a growing table while it is written, and afterwards.

Checks every batch against its index, names and skips what is damaged, and shows each step from the newest attempt.
Never locks, repairs or waits: what is not indexed yet is not there yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run.checksum import CHECKSUM, checksum_function
from cutaway.run.schemas import SCHEMAS
from cutaway.run.segments import ENTRY, ENTRY_BYTES, Header, RawPlace, SegmentName, parse_header
from cutaway.run.storage import Storage

__all__ = ["Attempt", "Batch", "Damage", "TableReader"]


class Attempt(NamedTuple):
    """One go at a run: the first, or a resumption that takes over from `from_step`."""

    number: int
    from_step: int


class Damage(NamedTuple):
    """Bytes that are not what was written."""

    path: str
    offset: int
    step: int | None
    reason: str


class Batch(NamedTuple):
    """One batch of rows, and who wrote it."""

    segment: SegmentName
    step: int
    rows: pa.RecordBatch


class TableReader:
    """Reads one table of a run. Each instance remembers what it has read; it is not shared between threads."""

    def __init__(self, storage: Storage, table: str, attempts: Callable[[], Sequence[Attempt]]) -> None:
        self._storage = storage
        self._attempts = attempts
        self.table = table
        self.damage: list[Damage] = []
        self._segments: dict[SegmentName, _SegmentReader] = {}
        self._batches: list[Batch] = []

    def poll(self) -> list[Batch]:
        """Return the batches that arrived since the last poll, in the order of attempts, workers and writing."""
        for name in self._storage.list(self.table):
            parsed = SegmentName.parse(name)
            if parsed is not None and parsed not in self._segments:
                self._segments[parsed] = _SegmentReader(self._storage, self.table, parsed)
        fresh: list[Batch] = []
        for name in sorted(self._segments, key=lambda name: (name.attempt, name.role, name.worker, name.number)):
            segment = self._segments[name]
            if not segment.closed:
                fresh += segment.poll(self.damage)
        self._batches += fresh
        return fresh

    def read(self, *, attempt: int | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return everything written so far as one table, with the columns `worker` and `attempt` added.

        Each step comes from the newest attempt that covers it; `attempt` asks for one attempt's rows as they were.
        """
        self.poll()
        limits = self._limits()
        parts = []
        for (worker, number, role), batches in _grouped(self._batches).items():
            if attempt is not None and number != attempt:
                continue
            part = pa.Table.from_batches(batches)
            limit = limits.get(number) if attempt is None and role == "train" else None
            if limit is not None and "step" in part.column_names:
                part = part.filter(pc.less(part["step"], limit))
            count = len(part)
            part = part.append_column("worker", pa.repeat(pa.scalar(worker), count))
            parts.append(part.append_column("attempt", pa.repeat(pa.scalar(number, pa.int32()), count)))
        whole = pa.concat_tables(parts) if parts else _empty(self.table)
        return whole.select([*columns]) if columns is not None else whole

    def visible(self, segment: SegmentName, step: int) -> bool:
        """Whether a row of this segment and step is shown, or replaced by a later attempt."""
        limit = self._limits().get(segment.attempt) if segment.role == "train" else None
        return limit is None or step < limit

    def raw(self, segment: SegmentName, place: RawPlace) -> memoryview:
        """Return the raw bytes of a tensor, checked. Raises `RunDamaged` where they fail."""
        return self._segments[segment].raw(place)

    def verify(self, *, ended: bool) -> list[Damage]:
        """Read everything once more from the files, raw tensors too, and return all damage.

        `ended` says that nobody writes any more, so that an unfinished tail is worth a word.
        """
        reader = TableReader(self._storage, self.table, self._attempts)
        reader.poll()
        found = list(reader.damage)
        for segment in reader._segments.values():
            found += segment.leftovers(ended=ended)
        for batch in reader._batches:
            found += reader._segments[batch.segment].check_raw(batch)
        return found

    def _limits(self) -> dict[int, int]:
        """For each attempt the first step that a later one took over."""
        limits: dict[int, int] = {}
        taken: int | None = None
        for attempt in sorted(self._attempts(), reverse=True):
            if taken is not None:
                limits[attempt.number] = taken
            taken = attempt.from_step if taken is None else min(taken, attempt.from_step)
        return limits


class _SegmentReader:
    """One segment: where its reader stands, and its checks."""

    def __init__(self, storage: Storage, table: str, name: SegmentName) -> None:
        self._storage = storage
        self.name = name
        self._stem = f"{table}/{name.stem}"
        self._header: Header | None = None
        self._schema: pa.Schema | None = None
        self._position = 0  # in the index
        self._end = 0  # of the last indexed batch
        self.closed = False
        self._map: memoryview | None = None

    def poll(self, damage: list[Damage]) -> list[Batch]:
        """Return the batches indexed since the last poll."""
        if self._header is None and not self._open(damage):
            return []
        data = self._storage.read(f"{self._stem}.idx", self._position)
        whole = len(data) // ENTRY_BYTES
        entries = np.frombuffer(data, ENTRY, count=whole)
        good = [entry for i, entry in enumerate(entries) if self._entry_is_good(entry, data, i, damage)]
        self._position += whole * ENTRY_BYTES
        if good and not good[-1]["length"]:
            self.closed = True
            self._end = int(good.pop()["offset"])
        return self._load(good, damage)

    def leftovers(self, *, ended: bool) -> list[Damage]:
        """Bytes after the last entry: damage, once nobody writes any more."""
        if not ended:
            return []
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
        """Check the raw bytes that a batch's rows point at."""
        if "offset" not in batch.rows.schema.names:
            return
        columns = (batch.rows[name].to_pylist() for name in ("tensor", "offset", "length", "crc"))
        for tensor, offset, length, crc in zip(*columns, strict=True):
            if offset is not None:
                try:
                    self.raw(RawPlace(offset, length, crc))
                except RunDamaged as error:
                    yield Damage(error.path, offset, batch.step, f"tensor {tensor!r}: {error.reason}")

    def raw(self, place: RawPlace) -> memoryview:
        """Read raw bytes: mapped where the segment is complete, read where it still grows."""
        path = f"{self._stem}.bin"
        if self.closed and self._map is None and hasattr(self._storage, "map"):
            self._map = self._storage.map(path)
        if self._map is not None:
            data = self._map[place.offset : place.offset + place.padded_length]
        else:
            data = memoryview(self._storage.read(path, place.offset, place.padded_length))
        if len(data) < place.padded_length:
            raise RunDamaged(path, place.offset, f"{place.padded_length - len(data)} bytes are missing")
        kind = CHECKSUM if self._header is None else self._header.kind
        if checksum_function(kind)(data) != place.crc:
            raise RunDamaged(path, place.offset, "it fails its checksum")
        return data[: place.length]

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

    def _entry_is_good(self, entry: np.void, data: bytes, i: int, damage: list[Damage]) -> bool:
        assert self._header is not None
        start = i * ENTRY_BYTES
        if checksum_function(self._header.kind)(data[start : start + ENTRY_BYTES - 4]) == entry["own"]:
            return True
        damage.append(Damage(f"{self._stem}.idx", self._position + start, None, "an index entry fails its checksum"))
        return False

    def _load(self, entries: list[np.void], damage: list[Damage]) -> list[Batch]:
        if not entries:
            return []
        assert self._header is not None
        path = f"{self._stem}.arrow"
        first = int(entries[0]["offset"])
        self._end = max(self._end, int(entries[-1]["offset"] + entries[-1]["length"]))
        data = self._storage.read(path, first, self._end - first)
        view, whole, crc = memoryview(data), pa.py_buffer(data), checksum_function(self._header.kind)
        batches = []
        for entry in entries:
            start, length, step = int(entry["offset"]) - first, int(entry["length"]), int(entry["step"])
            if start + length > len(data):
                damage.append(Damage(path, first + start, step, "the file ends before this batch does"))
            elif crc(view[start : start + length]) != entry["crc"]:
                damage.append(Damage(path, first + start, step, "a batch fails its checksum"))
            else:
                rows = pa.ipc.read_record_batch(whole.slice(start, length), self._schema)
                batches.append(Batch(self.name, step, rows))
        return batches


def _grouped(batches: Iterable[Batch]) -> dict[tuple[str, int, str], list[pa.RecordBatch]]:
    grouped: dict[tuple[str, int, str], list[pa.RecordBatch]] = {}
    for batch in batches:
        name = batch.segment
        grouped.setdefault((name.worker, name.attempt, name.role), []).append(batch.rows)
    return grouped


def _empty(table: str) -> pa.Table:
    schema = SCHEMAS[table].append(pa.field("worker", pa.string())).append(pa.field("attempt", pa.int32()))
    return schema.empty_table()
