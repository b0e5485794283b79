"""Steps, scalars and the values of single samples over a range of steps: plain columns, kept as they arrive.

Rules ask for them again and again while a run grows: what was read once is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from cutaway.run.rows import numbers, texts
from cutaway.run.schemas import SCALARS, SCHEMAS, STEPS, VALUES
from cutaway.run.tables import Attempt, Batch
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.recent_steps import PHASES
from cutaway.trial.follower import Follower
from cutaway.trial.growing import Columns, Growing
from cutaway.trial.step_columns import times_of_steps

__all__ = ["StepWindows", "ValueWindow"]


class StepWindows:
    """The rows of `trace/steps` and `scalars` of the first worker by name, by step."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._steps = Growing(_no_columns())
        self._scalars = Growing(_no_columns())
        self._batches = _BatchesBySteps(follower, STEPS)
        self._version: tuple[int, tuple[Attempt, ...]] = (-1, ())

    def steps(self, start: int, stop: int) -> Columns:
        """Return the columns of the recorded steps with `start <= step < stop`."""
        self._read()
        return self._steps.window(start, stop)

    def samples(self, start: int, stop: int) -> list[list[str | None] | None]:
        """Return the sample ids of each of the recorded steps, of its workers one after the other by name."""
        wanted: list[int] = self.steps(start, stop)["step"].tolist()
        reader = self._follower.reader(STEPS)
        found: dict[int, dict[str, list[str | None]]] = {}
        for batch in self._batches.within(start, stop):
            if batch.segment.role == "train":
                limit = reader.limit(batch.segment)
                for step, ids in _sample_ids(batch, start, stop if limit is None else min(stop, limit)):
                    found.setdefault(step, {})[batch.segment.worker] = ids
        return [_joined(found[step]) if step in found else None for step in wanted]

    def scalar_names(self) -> list[str]:
        """Return the names of all scalars, sorted."""
        self._read()
        return sorted(set(self._scalars.columns()["name"].tolist()))

    def scalar(self, name: str, start: int, stop: int, mode: ModeKeys) -> Columns:
        """Return the steps and values of one scalar, of one mode or (GLOBAL) of all."""
        self._read()
        rows = self._scalars.window(start, stop)
        kept = rows["name"] == name
        if mode is not ModeKeys.GLOBAL:
            kept &= rows["mode"] == mode.name
        return {"step": rows["step"][kept], "value": rows["value"][kept]}

    def _read(self) -> None:
        steps = self._follower.steps
        attempts = tuple(self._follower.attempts)
        if self._version[1] != attempts:
            # A later attempt hides steps of the ones before it.
            self._steps, self._scalars = Growing(_no_columns()), Growing(_no_columns())
        if self._version == (steps.version, attempts) and not self._follower.dynamic:
            return
        self._version = (steps.version, attempts)
        self._follower.reader(SCALARS).poll()
        for table, kept, columns in ((STEPS, self._steps, times_of_steps), (SCALARS, self._scalars, _scalar_columns)):
            reader = self._follower.reader(table)
            for batch in reader.batches[kept.seen :]:
                found = columns(batch.content.column)
                kept.add(batch, found, steps.within.mask(found["step"], reader.limit(batch.segment)))
            self._follower.note_damage(table)


class ValueWindow:
    """The rows of `values`, without holding those of all other steps."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._batches = _BatchesBySteps(follower, VALUES)

    def rows(self, start: int, stop: int) -> pa.Table:
        """Return the rows with `start <= step < stop` that no later attempt replaced: step, sample, name, value."""
        reader = self._follower.reader(VALUES)
        reader.poll()
        found = [SCHEMAS[VALUES].empty_table()]
        for batch in self._batches.within(start, stop):
            steps = numbers(batch.content.column("step"))
            shown = self._follower.steps.within.mask(steps, reader.limit(batch.segment))
            places = np.flatnonzero(shown & (steps >= start) & (steps < stop))
            found.append(pa.table({name: batch.content.take(name, places) for name in SCHEMAS[VALUES].names}))
        self._follower.note_damage(VALUES)
        return pa.concat_tables(found)


class _BatchesBySteps:
    """What was polled of a table, found by its steps."""

    def __init__(self, follower: Follower, table: str) -> None:
        self._reader = follower.reader(table)
        self._spans: list[tuple[int, int]] = []  # the first and last step of each batch

    def within(self, start: int, stop: int) -> Iterator[Batch]:
        """Yield the batches that may hold rows with `start <= step < stop`."""
        for batch in self._reader.batches[len(self._spans) :]:
            steps = numbers(batch.content.column("step"))
            self._spans.append((int(steps.min()), int(steps.max())) if len(steps) else (0, -1))
        for (first, last), batch in zip(self._spans, self._reader.batches, strict=True):
            if first < stop and last >= start:
                yield batch


def _no_columns() -> Columns:
    columns = ("step", "mode", "mode_step", "epoch", "time", "name", "value", *PHASES)
    return {name: np.empty(0, np.int64 if name in ("step", "mode_step", "epoch") else object) for name in columns}


def _scalar_columns(column: Callable[[str], pa.Array]) -> Columns:
    return {
        "step": numbers(column("step")),
        "mode": texts(column("mode")),
        "name": texts(column("name")),
        "value": numbers(column("value")),
    }


def _sample_ids(batch: Batch, start: int, stop: int) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the steps of a batch within bounds whose samples are known, with these."""
    steps = numbers(batch.content.column("step"))
    places = np.flatnonzero((steps >= start) & (steps < stop))
    whole = len(places) == len(steps)
    ids = batch.content.column("samples") if whole else batch.content.take("samples", places)
    pairs = zip(steps[places].tolist(), ids.to_pylist(), strict=True)
    yield from ((step, own) for step, own in pairs if own is not None)


def _joined(of_workers: Mapping[str, list[str | None]]) -> list[str | None]:
    if len(of_workers) == 1:
        return next(iter(of_workers.values()))
    return [one for _, ids in sorted(of_workers.items()) for one in ids]
