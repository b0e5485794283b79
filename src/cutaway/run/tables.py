"""Reading a growing table while it is written, and afterwards.

Checks every batch against its index, names and skips what is damaged, and shows each step from the newest attempt.
Never locks, repairs or waits: what is not indexed yet is not there yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.run.raw_file import RawFile
from cutaway.run.schemas import SCHEMAS
from cutaway.run.segment_reader import Batch, Damage, SegmentReader
from cutaway.run.segments import RawPlace, SegmentName, WriterId
from cutaway.run.storage import Storage

__all__ = ["UNREADABLE_TABLE", "Attempt", "Batch", "Damage", "TableReader"]

# What reading a whole file of a table can raise that is cut short, garbled or made to harm.
UNREADABLE_TABLE = (
    OSError,
    pa.ArrowException,
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    MemoryError,
    RecursionError,
)


class Attempt(NamedTuple):
    """One go at a run: the first, or a resumption that takes over from `from_step`."""

    number: int
    from_step: int


class TableReader:
    """Reads one table of a run. Each instance remembers what it has read; it is not shared between threads."""

    def __init__(self, storage: Storage, table: str, attempts: Callable[[], Sequence[Attempt]]) -> None:
        self._storage = storage
        self._attempts = attempts
        self.table = table
        self.damage: list[Damage] = []
        self._segments: dict[SegmentName, SegmentReader] = {}
        self._batches: list[Batch] = []

    def poll(self) -> list[Batch]:
        """Return the rows that arrived since the last poll, in the order of attempts, workers and writing.

        Neighbouring batches of a segment may come as one.
        """
        for name in self._storage.list(self.table):
            parsed = SegmentName.parse(name)
            if parsed is not None and parsed not in self._segments:
                self._segments[parsed] = SegmentReader(self._storage, self.table, parsed)
        fresh: list[Batch] = []
        for segment in sorted(self._segments.values(), key=lambda one: _order(one.name)):
            if not segment.closed:
                fresh += segment.poll(self.damage)
        self._batches += fresh
        return fresh

    def read(self, *, attempt: int | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return everything written so far as one table, with the columns `worker` and `attempt` added.

        Each step comes from the newest attempt that covers it; `attempt` asks for one attempt's rows as they were.
        """
        self.poll()
        attempts = self._attempts()
        parts = []
        for (worker, number, role), batches in _grouped(self._batches).items():
            if attempt is not None and number != attempt:
                continue
            part = pa.Table.from_batches(batches)
            limit = _taken_over(attempts, number) if attempt is None and role == "train" else None
            if limit is not None and "step" in part.column_names:
                part = part.filter(pc.less(part["step"], limit))
            count = len(part)
            part = part.append_column("worker", pa.repeat(pa.scalar(worker), count))
            parts.append(part.append_column("attempt", pa.repeat(pa.scalar(number, pa.int32()), count)))
        whole = pa.concat_tables(parts) if parts else _empty(self.table)
        return whole.select([*columns]) if columns is not None else whole

    @property
    def batches(self) -> Sequence[Batch]:
        """Everything polled so far, also what a later attempt replaced."""
        return self._batches

    def settle(self) -> None:
        """Note that nobody writes any more, so that raw tensors can be read in place."""
        for segment in self._segments.values():
            segment.raw.settle()

    def limit(self, segment: SegmentName) -> int | None:
        """Return the first step of a segment that a later attempt replaced, or None where all of it is shown."""
        return _taken_over(self._attempts(), segment.attempt) if segment.role == "train" else None

    def visible(self, segment: SegmentName, step: int) -> bool:
        """Whether a row of this segment and step is shown, or replaced by a later attempt."""
        limit = self.limit(segment)
        return limit is None or step < limit

    def raw(self, segment: SegmentName, place: RawPlace) -> memoryview:
        """Return the raw bytes of a tensor, checked. Raises `RunDamaged` where they fail."""
        return self._segments[segment].raw.view(place)

    def raw_file(self, segment: SegmentName) -> RawFile:
        """Return the reader of a segment's raw tensors, for those who read many."""
        return self._segments[segment].raw

    def verify(self, *, ended: bool) -> list[Damage]:
        """Read everything once more from the files, raw tensors too, and return all damage.

        `ended` says that nobody writes any more, so that an unfinished tail is worth a word.
        """
        reader = TableReader(self._storage, self.table, self._attempts)
        reader.poll()
        found = list(reader.damage)
        if ended:
            for segment in reader._segments.values():
                found += segment.leftovers()
            found += self._without_index()
        for batch in reader._batches:
            found += reader._segments[batch.segment].check_raw(batch)
        return found

    def lost_ends(self, writers: Collection[WriterId]) -> list[Damage]:
        """Name the segments that have lost their end, of writers that have closed all their files."""
        unclosed = [one for one in self._segments.values() if not one.closed and WriterId(*one.name[:3]) in writers]
        return [damage for segment in unclosed for damage in segment.leftovers()]

    def _without_index(self) -> list[Damage]:
        """Name the segments whose index is gone. One that holds no batch yet was being created when its writer died."""
        names = self._storage.list(self.table)
        nothing = SCHEMAS[self.table].serialize().size
        lone = [f"{self.table}/{name}" for name in names if name.endswith(".arrow") and f"{name[:-6]}.idx" not in names]
        return [Damage(key, 0, None, "its index is missing") for key in lone if self._storage.size(key) > nothing]


def _taken_over(attempts: Sequence[Attempt], number: int) -> int | None:
    """Return the first step of an attempt that a later one took over."""
    return min((attempt.from_step for attempt in attempts if attempt.number > number), default=None)


def _order(name: SegmentName) -> tuple[int, str, str, int]:
    return name.attempt, name.role, name.worker, name.number


def _grouped(batches: Iterable[Batch]) -> dict[tuple[str, int, str], list[pa.RecordBatch]]:
    grouped: dict[tuple[str, int, str], list[pa.RecordBatch]] = {}
    for batch in batches:
        name = batch.segment
        grouped.setdefault((name.worker, name.attempt, name.role), []).append(batch.rows)
    return grouped


def _empty(table: str) -> pa.Table:
    schema = SCHEMAS[table].append(pa.field("worker", pa.string())).append(pa.field("attempt", pa.int32()))
    return schema.empty_table()
