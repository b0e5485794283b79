"""The scalars of a run as series, one a name and mode, kept as they arrive: what was read once is not read again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, Float64Array, IndexArray, Int64Array
from cutaway.run.rows import coded_texts, numbers
from cutaway.run.schemas import SCALARS
from cutaway.run.tables import Attempt, Batch, Damage
from cutaway.trial.follower import Follower

__all__ = ["ScalarPoints", "ScalarSeries"]


# More than anybody looks at; a run in which each step named a series of its own would take all memory.
MOST_SERIES = 10_000

_Key = tuple[str, str]


class ScalarPoints(NamedTuple):
    """One series of numbers, ascending in `step`."""

    step: Int64Array
    value: Float64Array
    time: Float64Array


class ScalarSeries:
    """The rows of `scalars`, of each series those of the first worker by name that has any."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._seen = 0
        self._attempts: tuple[Attempt, ...] = tuple(follower.attempts)
        self._workers: dict[_Key, str] = {}
        self._waiting: dict[_Key, list[ScalarPoints]] = {}
        self._joined: dict[_Key, ScalarPoints] = {}
        self._too_many = False

    def all(self) -> dict[tuple[str, str], ScalarPoints]:
        """Return every series by its name and mode, in the order in which they began."""
        self._read()
        for key, waiting in self._waiting.items():
            parts = [self._joined[key], *waiting] if key in self._joined else waiting
            self._joined[key] = _ascending(
                ScalarPoints(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
            )
        self._waiting.clear()
        return self._joined

    def _start_over(self) -> None:
        self._seen, self._attempts = 0, tuple(self._follower.attempts)
        self._workers.clear()
        self._waiting.clear()
        # Not cleared: somebody may hold what was returned before.
        self._joined = {}

    def _read(self) -> None:
        if self._attempts != tuple(self._follower.attempts):
            # A later attempt hides steps of the ones before it.
            self._start_over()
        reader = self._follower.reader(SCALARS)
        reader.poll()
        for batch in reader.batches[self._seen :]:
            self._seen += 1
            if batch.segment.role == "train" and len(batch.content):
                self._add(batch, reader.limit(batch.segment))
        self._follower.note_damage(SCALARS)

    def _add(self, batch: Batch, limit: int | None) -> None:
        rows = batch.content
        names, name_codes = coded_texts(rows.column("name"))
        modes, mode_codes = coded_texts(rows.column("mode"))
        whole = ScalarPoints(*(numbers(rows.column(column)) for column in ScalarPoints._fields))
        codes = name_codes.astype(np.int64) * len(modes) + mode_codes
        codes[~self._follower.steps.within.mask(whole.step, limit)] = -1
        order = np.argsort(codes, kind="stable")
        found, starts = np.unique(codes[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        for code, start, end in sorted(
            zip(found.tolist(), starts.tolist(), ends, strict=True), key=lambda one: order[one[1]]
        ):
            if code < 0:
                continue
            key, places = (names[code // len(modes)], modes[code % len(modes)]), order[start:end]
            if len(self._workers) >= MOST_SERIES and key not in self._workers:
                self._name_too_many()
                continue
            if batch.segment.worker < self._workers.setdefault(key, batch.segment.worker):
                self._workers[key] = batch.segment.worker
                self._waiting.pop(key, None)
                # A copy: somebody may hold what was returned before.
                self._joined = {one: points for one, points in self._joined.items() if one != key}
            if self._workers[key] == batch.segment.worker:
                self._waiting.setdefault(key, []).append(_picked(whole, places))

    def _name_too_many(self) -> None:
        if not self._too_many:
            self._too_many = True
            reason = f"there are more than {MOST_SERIES} series; the first {MOST_SERIES} are read"
            self._follower.name_damage([Damage(SCALARS, 0, None, reason)])


def _picked(series: ScalarPoints, places: IndexArray) -> ScalarPoints:
    return ScalarPoints(series.step[places], series.value[places], series.time[places])


def _ascending(series: ScalarPoints) -> ScalarPoints:
    steps: Array = series.step
    if not (steps[1:] < steps[:-1]).any():
        return series
    return _picked(series, np.argsort(steps, kind="stable"))
