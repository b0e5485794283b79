"""The coarse copy of a run's statistics, whole and without holes: what was written of it, and the rest made anew.

A stretch that is missing (the open one of a live or killed writer, one that is damaged or that a later attempt cut, or
all of a run that was written without the coarse copy) is worked out from the statistics themselves, in pieces, once.
Either way stretches come as rows, one per stretch and tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, Int64Array
from cutaway.run.identity import Run
from cutaway.run.rows import TableRows, numbers
from cutaway.run.schemas import OVERVIEW
from cutaway.run.tables import Batch, Damage
from cutaway.tensors.coarse import OpenStretches, Stretch
from cutaway.tensors.statistic_names import COUNTS, FLOATS
from cutaway.trial.evaluation_steps import EvaluationSteps
from cutaway.trial.listed_rows import NamedRows, neighbours
from cutaway.trial.raw_statistics import RawStatistics

__all__ = ["FOREVER", "StretchRows", "Stretches", "evaluated_only", "owned_rows", "owners_of"]


FOREVER = int(np.iinfo(np.int64).max)


class _Tail(NamedTuple):
    """The steps after the last whole stretch, and what the index said when they were read."""

    seen: tuple[int, int, int, int]
    stretches: list[Stretch]


class Stretches:
    """All stretches of a run. Belongs to one thread."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._table = run.table(OVERVIEW)
        self.raw = RawStatistics(run)
        self._restart()

    def _restart(self) -> None:
        self._attempts = list(self._run.attempts())
        self.evaluations = EvaluationSteps(self._run)
        self._written: list[StretchRows] = []
        self._made: dict[str, list[Stretch]] = {}  # where nothing was written, and no step will be added
        self._tails: dict[str, _Tail] = {}
        self._looked: set[tuple[str, int, int]] = set()

    @property
    def damage(self) -> list[Damage]:
        """What could not be read so far, of either table."""
        return [*self._table.damage, *self.raw.damage]

    def read(self) -> list[StretchRows]:
        """Return all stretches so far, each worker's in one or more pieces."""
        fresh: Iterable[Batch] = self._table.poll()
        if list(self._run.attempts()) != self._attempts:
            # A new attempt hides steps of those before it.
            self._restart()
            fresh = self._table.batches
        for batch in fresh:
            self._take(StretchRows.of_batch(batch, self._table.limit(batch.segment)))
        self.evaluations.look()
        made = []
        for worker in self.raw.workers():
            self._fill(worker)
            stretches = [*self._made.get(worker, ()), *self._tails[worker].stretches]
            if stretches:
                made.append(StretchRows.of_stretches(worker, stretches))
        return [*self._written, *made]

    def made_steps(self) -> int:
        """Return how many steps have no written stretch and are not the tail's."""
        return sum(int(one.steps.max()) for stretches in self._made.values() for one in stretches)

    def _take(self, rows: StretchRows) -> None:
        if not len(rows.first):
            return
        self._written.append(rows)
        # Those that were not written yet when somebody looked.
        begin, end = rows.first.min(), rows.last.max()
        made = self._made.get(rows.worker, [])
        self._made[rows.worker] = [one for one in made if one.last < begin or one.first > end]

    def _fill(self, worker: str) -> None:
        """Work out what no stretch covers: holes once, the tail whenever it has grown."""
        starts = self.raw.starts(worker)
        holes, end = self._holes(worker, starts)
        for start, stop in holes:
            self._looked.add((worker, start, stop))
            self._made.setdefault(worker, []).extend(chain.from_iterable(self._from_raw(worker, start, stop)))
        seen = (end, len(starts), int(starts[-1]) if len(starts) else -1, len(self.evaluations))
        if worker not in self._tails or self._tails[worker].seen != seen:
            found = list(self._from_raw(worker, end, FOREVER)) if len(starts) else []
            whole = list(chain.from_iterable(found[:-1]))
            self._made.setdefault(worker, []).extend(whole)
            # The next look begins after the whole ones; the index has to be asked again by then.
            begin = whole[-1].last + 1 if whole else end
            self._tails[worker] = _Tail((begin, *seen[1:]), found[-1] if found else [])

    def _holes(self, worker: str, starts: Int64Array) -> tuple[list[tuple[int, int]], int]:
        """Return ranges between stretches whose statistics no stretch holds, and where the tail begins."""
        made = self._made.get(worker, [])
        written = [rows for rows in self._written if rows.worker == worker]
        first = np.concatenate([*(rows.first for rows in written), np.array([one.first for one in made], np.int64)])
        last = np.concatenate([*(rows.last for rows in written), np.array([one.last for one in made], np.int64)])
        order = np.argsort(first, kind="stable")
        # Steps that were left out on purpose (`statistics_every`) leave gaps too; these have no rows in the index.
        begins = np.concatenate([[0], np.maximum.accumulate(last[order]) + 1]).astype(np.int64)
        ends = first[order].astype(np.int64)
        rows_inside = np.searchsorted(starts, ends) > np.searchsorted(starts, begins[:-1])
        # Where entries of the coarse table are damaged, a stretch of a single batch may be among them.
        suspect = rows_inside | bool(self._table.damage)
        holes = [
            (int(begins[i]), int(ends[i]))
            for i in np.flatnonzero(suspect & (begins[:-1] < ends)).tolist()
            if (worker, int(begins[i]), int(ends[i])) not in self._looked
        ]
        return holes, int(begins[-1])

    def _from_raw(self, worker: str, start: int, stop: int) -> Iterator[list[Stretch]]:
        """Yield the stretches of a range of steps, those of the same steps together; the last may hold fewer steps."""
        growing = OpenStretches()
        for chunk in self.raw.chunks(worker, start, stop):
            # Where the writer left a column out, it counted nothing.
            whole = np.nan_to_num(np.stack([chunk.column(name) for name in ("size", *COUNTS)])).astype(np.int64)
            floats = np.stack([chunk.column(name) for name in FLOATS])
            steps, evaluated = chunk.steps, self.evaluations.among(chunk.steps)
            while len(steps):
                count = growing.missing
                for evaluation in (False, True):
                    own = np.flatnonzero(evaluated[:count] == evaluation)
                    if len(own):
                        one = growing.of(evaluation=evaluation)
                        one.add(one.places(chunk.names), steps[own].tolist(), whole[:, own], floats[:, own])
                steps, evaluated, whole, floats = steps[count:], evaluated[count:], whole[:, count:], floats[:, count:]
                if growing.missing <= 0:
                    yield from _closed(growing)
        yield from _closed(growing)


def _closed(growing: OpenStretches) -> Iterator[list[Stretch]]:
    stretches, _ = growing.close()
    if stretches:
        yield stretches


class StretchRows:
    """Stretches of one worker as rows, one per stretch and tensor. `at` and `codes` say which of both a row is.

    A tensor that was recorded while the model trained and while it was evaluated has a row of each; `evaluation` tells
    them apart.
    """

    def __init__(
        self, worker: str, spans: tuple[Int64Array, Int64Array], at: Int64Array, names: Sequence[str], codes: Int64Array
    ) -> None:
        self.worker = worker
        self.first, self.last = spans
        self.at, self.names, self.codes = at, names, codes
        self.evaluation: BoolArray = np.zeros(len(at), bool)
        self._rows: TableRows | None = None
        self._kept: Int64Array | None = None
        self._stretches: Sequence[Stretch] = ()

    @classmethod
    def of_batch(cls, batch: Batch, limit: int | None) -> StretchRows:
        """Take the stretches of a batch that end before a later attempt took over."""
        rows = batch.content
        first, counts = neighbours(numbers(rows.column("step")))
        last = numbers(rows.column("last_step"))[np.cumsum(counts) - counts]
        small, names = NamedRows(rows).codes()
        codes = small.astype(np.int64)
        whole = np.ones(len(first), bool) if limit is None else last < limit
        at = np.repeat(np.cumsum(whole) - 1, counts)
        kept = None if whole.all() else np.flatnonzero(np.repeat(whole, counts))
        if kept is not None:
            # Without the names that only replaced stretches have.
            used = np.unique(codes[kept])
            codes = np.searchsorted(used, codes[kept])
            at, names = at[kept], [names[code] for code in used.tolist()]
        found = cls(batch.segment.worker, (first[whole], last[whole]), at, names, codes)
        found._rows, found._kept = rows, kept
        if rows.has("evaluation"):
            found.evaluation = found.column("evaluation") != 0
        return found

    @classmethod
    def of_stretches(cls, worker: str, stretches: Sequence[Stretch]) -> StretchRows:
        """Take stretches that were worked out here; at least one."""
        known: dict[str, int] = {}
        of_names = {one.names: np.empty(0, np.int64) for one in stretches}
        for names in of_names:
            of_names[names] = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
        at = np.repeat(np.arange(len(stretches)), [len(one.names) for one in stretches])
        codes = np.concatenate([of_names[one.names] for one in stretches])
        first, last = (np.array([getattr(one, end) for one in stretches], np.int64) for end in ("first", "last"))
        found = cls(worker, (first, last), at, list(known), codes)
        found._stretches = stretches
        found.evaluation = found.column("evaluation") != 0
        return found

    def column(self, name: str) -> Array:
        """Return a column of `trace/overview`."""
        if self._rows is None:
            return np.concatenate([stretch.column(name) for stretch in self._stretches])
        whole = numbers(self._rows.column(name))
        return whole if self._kept is None else whole[self._kept]

    def take(self, name: str, places: Array) -> Array:
        """Return a column at some rows."""
        if self._rows is None:
            return self.column(name)[places]
        return numbers(self._rows.take(name, places if self._kept is None else self._kept[places]))


def owners_of(pieces: Sequence[StretchRows]) -> dict[str, str]:
    """Return for each tensor the worker whose statistics are shown: the first by name that has any."""
    owners: dict[str, str] = {}
    for piece in sorted(pieces, key=lambda piece: (piece.first.min(), piece.worker)):
        for name in piece.names:
            owners[name] = min(owners.get(name, piece.worker), piece.worker)
    return owners


def evaluated_only(pieces: Sequence[StretchRows]) -> frozenset[str]:
    """Return the tensors that no step of training recorded: of them the steps that evaluate are shown."""
    trained: set[str] = set()
    for piece in pieces:
        own = piece.names
        if piece.evaluation.any():
            own = [piece.names[code] for code in np.unique(piece.codes[~piece.evaluation]).tolist()]
        trained.update(own)
    return frozenset(name for piece in pieces for name in piece.names if name not in trained)


def owned_rows(
    piece: StretchRows, owners: Mapping[str, str], number: Mapping[str, int]
) -> tuple[Int64Array, Int64Array]:
    """Return the rows of a piece that are shown, and the number of each one's tensor."""
    of_code = [number.get(name, -1) if owners[name] == piece.worker else -1 for name in piece.names]
    own = np.array(of_code, np.int64)[piece.codes]
    rows = np.flatnonzero(own >= 0)
    return rows, own[rows]
