"""The statistics of a range of steps, found through the index: the rows of other steps are not read.

Shows each step from the newest attempt, and names what is damaged. Remembers no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from cutaway.arrays import Array, Int64Array
from cutaway.run.identity import Run
from cutaway.run.schemas import STATISTICS
from cutaway.run.segment_reader import SegmentReader
from cutaway.run.segments import SegmentName
from cutaway.run.tables import Damage
from cutaway.tensors.statistics_blocks import Activity, StatisticsChunk
from cutaway.trial.listed_rows import Listed
from cutaway.trial.statistics_index import StatisticsPart

__all__ = ["RawStatistics"]


# What is held of the files at a time: a run of any length is read in such pieces.
BLOCK_BYTES = 16 << 20


class RawStatistics:
    """`trace/statistics` of a run, by worker and range of steps. Belongs to one thread."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._table = run.table(STATISTICS)  # asked for what later attempts replaced, never for rows
        self._segments: dict[SegmentName, SegmentReader] = {}
        self.damage: list[Damage] = []

    def workers(self) -> list[str]:
        """Return who has written statistics, by name."""
        return sorted({name.worker for name in self._names()})

    def starts(self, worker: str) -> Int64Array:
        """Return the first step of each batch that no later attempt replaced whole, ascending."""
        parts = []
        for name in self._names(worker):
            steps, limit = self._segments[name].steps(self.damage), self._table.limit(name)
            parts.append(steps if limit is None else steps[steps < limit])
        return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))

    def chunks(self, worker: str, start: int, stop: int) -> Iterator[StatisticsChunk]:
        """Yield the statistics of a worker with `start <= step < stop`, attempt after attempt."""
        names = self._names(worker)
        for name, following in zip(names, [*names[1:], None], strict=True):
            limit = self._table.limit(name)
            end = stop if limit is None else min(stop, limit)
            if following is not None and following.attempt == name.attempt:
                begun = self._segments[following].steps(self.damage)
                if len(begun) and begun[0] < start:
                    continue  # all of its steps come before
            for batch in self._segments[name].between(start, end, self.damage, BLOCK_BYTES):
                for chunk in StatisticsPart(Listed(batch, set())).chunks():
                    found = _within(chunk, start, end)
                    if len(found.steps):
                        yield found

    def _names(self, worker: str | None = None) -> list[SegmentName]:
        """Return the segments there are, in the order in which they were written."""
        for file in self._run.storage.list(STATISTICS):
            name = SegmentName.parse(file)
            if name is not None and name.role == "train" and name not in self._segments:
                self._segments[name] = SegmentReader(self._run.storage, STATISTICS, name)
        names = (name for name in self._segments if worker in (None, name.worker))
        return sorted(names, key=lambda name: (name.attempt, name.number))


def _within(chunk: StatisticsChunk, start: int, stop: int) -> StatisticsChunk:
    first, last = np.searchsorted(chunk.steps, [start, stop]).tolist()
    if last - first == len(chunk.steps):
        return chunk
    column, active = partial(_rows, chunk, first, last), partial(_activity, chunk, first, last)
    return StatisticsChunk(chunk.names, chunk.steps[first:last], column, active)


def _rows(chunk: StatisticsChunk, first: int, last: int, column: str) -> Array:
    return chunk.column(column)[first:last]


def _activity(chunk: StatisticsChunk, first: int, last: int, place: int) -> Activity:
    return chunk.active(place)[first:last]
