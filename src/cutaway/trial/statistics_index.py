"""The statistics of a run by tensor and step. The columns of one tensor are picked out when somebody asks for it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, BoolArray, Float32Array, IndexArray, Int32Array, Int64Array
from cutaway.run.rows import numbers
from cutaway.run.schemas import SCHEMAS, STATISTICS
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.tensors.statistics_blocks import Activity, Chunks, StatisticsBlock, StatisticsChunk, columns_of_one
from cutaway.tensors.value_statistics import ValueStatistics, change_between, chunks_of_values, statistics_of_value
from cutaway.trial.listed_rows import Listed, NamedPart, NamesOfParts, neighbours
from cutaway.trial.saved_tensors import SavedTensors
from cutaway.trial.unrecorded import Unrecorded

__all__ = ["StatisticsIndex", "StatisticsPart", "TensorStatistics"]

# Reads a tensor of a step and a worker; None where that cannot be done.
ReadsValue = Callable[[str, int, str], Array | None]
# What a reduction can be derived from, and what belongs to no single value.
_NUMBERS = tuple(name for name in STATISTIC_COLUMNS if name != "change")


class StatisticsPart(NamedPart):
    """Some rows of `trace/statistics`, all of listed steps."""

    def __init__(self, listed: Listed) -> None:
        super().__init__(listed)
        self._columns: dict[str, Array] = {}

    def chunks(self) -> Iterator[StatisticsChunk]:
        """Divide the rows wherever the tensors of two neighbouring steps differ."""
        steps, counts = neighbours(self.steps)
        codes, names = self.names.codes()
        ends = np.cumsum(counts)
        for first, last in _alike(codes, ends, counts):
            start, width = int(ends[first] - counts[first]), int(counts[first])
            yield StatisticsChunk(
                tuple(names[code] for code in codes[start : start + width].tolist()),
                steps[first:last],
                partial(self._matrix, start, int(ends[last - 1]), width),
                partial(self._activity, start, int(ends[last - 1]), width),
            )

    def _matrix(self, start: int, end: int, width: int, column: str) -> Array:
        whole = self._columns.get(column)
        if whole is None:
            whole = self._columns[column] = numbers(self.rows.column(column))
        return whole[start:end].reshape(-1, width)

    def _activity(self, start: int, end: int, width: int, place: int) -> Activity:
        lists = self.rows.take("active", np.arange(start + place, end, width))
        if lists.null_count == len(lists):
            return [None] * len(lists)
        lengths = np.diff(lists.offsets.to_numpy())
        if lists.null_count or (lengths != lengths[0]).any():
            rows: list[list[float] | None] = lists.to_pylist()
            return rows
        matrix: Float32Array = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
        return matrix

    def with_worker(self, places: IndexArray | None = None) -> pa.Table:
        if places is None:
            table = pa.Table.from_batches([self.rows.record_batch()])
        else:
            table = pa.table({name: self.rows.take(name, places) for name in SCHEMAS[STATISTICS].names})
        return table.append_column("worker", pa.repeat(pa.scalar(self.worker), len(table)))


class _Series:
    """The statistics of one tensor in one part."""

    def __init__(self, part: StatisticsPart, places: IndexArray) -> None:
        self.steps = numbers(part.rows.take("step", places))
        self._part = part
        self._places = places

    @cached_property
    def place(self) -> dict[int, int]:
        """Where each step stands."""
        return {step: i for i, step in enumerate(self.steps.tolist())}

    @cached_property
    def numbers(self) -> tuple[list[float], ...]:
        """The columns that single reductions are derived from, as quick to index as Python allows."""
        return tuple(self.column(name).tolist() for name in _NUMBERS)

    def column(self, name: str) -> Array:
        return numbers(self._part.rows.take(name, self._places))


class TensorStatistics:
    """The statistics of one tensor."""

    def __init__(self) -> None:
        self.seen = 0  # parts looked at
        self._by_worker: dict[str, list[_Series]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_worker)

    def add(self, part: StatisticsPart, name: str) -> None:
        """Take in the rows of a tensor in one part."""
        places = part.names.places(name)
        if len(places):
            self._by_worker.setdefault(part.worker, []).append(_Series(part, places))
            self._by_worker = dict(sorted(self._by_worker.items()))

    def row(self, step: int, worker: str | None = None) -> dict[str, float] | None:
        """Return the statistics at a global step, by default of the first worker by name that has any."""
        for name in self._by_worker if worker is None else (worker,):
            for series in reversed(self._by_worker.get(name, ())):
                place = series.place.get(step)
                if place is not None:
                    return {key: column[place] for key, column in zip(_NUMBERS, series.numbers, strict=True)}
        return None


class StatisticsIndex:
    """All rows of `trace/statistics` whose steps are listed."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._parts: list[StatisticsPart] = []
        self._tensors: dict[str, TensorStatistics] = {}
        self._names = NamesOfParts(self._parts)
        self._chunks: dict[str, Chunks] = {}
        self._chunked = 0
        self._unrecorded = Unrecorded()

    def add(self, listed: Listed) -> None:
        """Take in rows."""
        self._parts.append(StatisticsPart(listed))

    def names(self, steps: Set[int] | None = None) -> set[str]:
        """Return the tensors that have statistics, ever or at one of some global steps."""
        return self._names.all() if steps is None else self._names.at(steps)

    def of(self, name: str) -> TensorStatistics:
        """Return the statistics of one tensor; empty where there are none."""
        found = self._tensors.get(name)
        if found is None:
            found = TensorStatistics()
        for part in self._parts[found.seen :]:
            found.add(part, name)
        found.seen = len(self._parts)
        if found:
            self._tensors[name] = found
        return found

    def compute(
        self, names: Collection[str], stop: int, saved: SavedTensors, value: ReadsValue, changes: Callable[[str], bool]
    ) -> None:
        """Compute, once, the statistics of what was saved in full before `stop` at steps that recorded none of it.

        Where `value` cannot read a tensor there are no statistics either. `changes` says of which tensors the change
        is wanted: as in a recording, of weights.
        """
        self._chunk_parts()
        self._unrecorded.note(saved, self._chunks)
        for worker, steps in self._unrecorded.take(names, stop).items():
            of_worker = self._chunks.setdefault(worker, Chunks())
            rows = ((step, _of_values(own, step, worker, value)) for step, own in steps.items())
            for chunk in chunks_of_values(rows, _Changes(saved, worker, value, changes).since_saved):
                of_worker.add(chunk)

    def window(self, name: str, start: int, stop: int) -> dict[str, Array]:
        """Return the columns of one tensor for `start <= step < stop`, ascending in `step`."""
        return columns_of_one(self.blocks([name], start, stop))

    def blocks(
        self,
        names: Collection[str],
        start: int,
        stop: int,
        before: int = 0,
        in_mode: Callable[[Int64Array], BoolArray] | None = None,
    ) -> list[StatisticsBlock]:
        """Return the statistics of some tensors as dense matrices: of each, those of the first worker that has any."""
        self._chunk_parts()
        missing, found = set(names), []
        for worker in sorted(self._chunks):
            here = missing & self._chunks[worker].names()
            found += self._chunks[worker].blocks(here, start, stop, before, in_mode)
            missing -= here
        return found

    def _chunk_parts(self) -> None:
        for part in self._parts[self._chunked :]:
            of_worker = self._chunks.setdefault(part.worker, Chunks())
            for chunk in part.chunks():
                of_worker.add(chunk)
        self._chunked = len(self._parts)

    def table(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of some tensors, or of all, with the column `worker` added."""
        tables = []
        for part in self._parts:
            if names is None:
                tables.append(part.with_worker())
                continue
            places = [part.names.places(name) for name in names]
            if places:
                tables.append(part.with_worker(np.sort(np.concatenate(places))))
        schema = SCHEMAS[STATISTICS].append(pa.field("worker", pa.string()))
        return pa.concat_tables([schema.empty_table(), *tables])


class _Changes:
    """How much tensors changed since a worker saved them last."""

    def __init__(self, saved: SavedTensors, worker: str, value: ReadsValue, changes: Callable[[str], bool]) -> None:
        self._saved, self._worker, self._value, self._wanted = saved, worker, value, changes
        self._steps: dict[str, list[int]] = {}

    def since_saved(self, name: str, step: int) -> float:
        """Return the norm of a tensor's change; NaN where it is not wanted, or one of the values is not to be had."""
        if name not in self._steps:
            self._steps[name] = self._saved_in_full(name) if self._wanted(name) else []
        place = bisect_left(self._steps[name], step)
        if place == 0:
            return math.nan
        now, then = (self._value(name, one, self._worker) for one in (step, self._steps[name][place - 1]))
        return math.nan if now is None or then is None else change_between(now, then)

    def _saved_in_full(self, name: str) -> list[int]:
        steps = self._saved.steps_of(name)
        own = {} if steps is None else steps.by_worker.get(self._worker, {})
        return sorted(step for step, (_, offset, *_) in own.items() if offset is not None)


def _of_values(names: Sequence[str], step: int, worker: str, value: ReadsValue) -> dict[str, ValueStatistics]:
    """Return the statistics of those tensors of a step that can be read and hold numbers."""
    read = ((name, value(name, step, worker)) for name in names)
    found = ((name, None if own is None else statistics_of_value(own)) for name, own in read)
    return {name: own for name, own in found if own is not None}


def _alike(codes: Int32Array, ends: Int64Array, counts: Int64Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbouring steps whose rows name the same tensors in the same order."""
    changes = np.flatnonzero(counts[1:] != counts[:-1]) + 1
    for first, last in pairwise([0, *changes.tolist(), len(counts)]):
        if first == last:
            continue
        start, width = int(ends[first] - counts[first]), int(counts[first])
        grid = codes[start : int(ends[last - 1])].reshape(-1, width)
        breaks = np.flatnonzero((grid[1:] != grid[:-1]).any(axis=1)) + 1 + first
        yield from pairwise([first, *breaks.tolist(), last])
