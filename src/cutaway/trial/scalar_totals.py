"""The numbers of a run's scalars: last, least and largest of each name and mode, kept up to date as rows arrive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, Float64Array
from cutaway.run.identity import Run
from cutaway.run.plain_text import plain_text
from cutaway.run.rows import TableRows, coded_texts, numbers
from cutaway.run.schemas import SCALARS
from cutaway.run.segment_reader import SegmentReader
from cutaway.run.segments import SegmentName
from cutaway.run.tables import Attempt
from cutaway.trial.summary import loss_series, shrink

__all__ = ["GLANCE_POINTS", "LossFacts", "ScalarTotals", "SeriesTotals", "glance_at_loss"]

GLANCE_POINTS = 48

Key = tuple[str, str]
# A longer loss is not held: whoever draws it takes a glance at the run instead.
MOST_LOSSES = 1 << 16


@dataclass(frozen=True, slots=True)
class SeriesTotals:
    """One scalar of one mode. `min` and `max` are over its finite values; None where it has none."""

    count: int
    nonfinite: int
    last: float
    last_step: int
    min: float | None
    max: float | None

    def joined(self, later: SeriesTotals) -> SeriesTotals:
        """Return the totals of both; of one step what came later counts."""
        newest = later if later.last_step >= self.last_step else self
        least = [one for one in (self.min, later.min) if one is not None]
        largest = [one for one in (self.max, later.max) if one is not None]
        return SeriesTotals(
            self.count + later.count,
            self.nonfinite + later.nonfinite,
            newest.last,
            newest.last_step,
            min(least, default=None),
            max(largest, default=None),
        )


class ScalarTotals:
    """The scalars of one run. Holds no rows but those of its losses, so it can be kept while a run is live."""

    def __init__(self) -> None:
        self._begin([])

    def _begin(self, attempts: list[Attempt]) -> None:
        self.series: dict[Key, SeriesTotals] = {}
        self._losses: dict[Key, Float64Array | None] = {}
        self._workers: dict[Key, str] = {}
        self._readers: dict[SegmentName, SegmentReader] = {}
        self._attempts = attempts

    def poll(self, run: Run) -> None:
        """Take in what has been written since the last time; begin anew where an attempt has replaced rows."""
        attempts = run.attempts()
        if attempts != self._attempts:
            self._begin(list(attempts))
        table = run.table(SCALARS)
        for file in run.storage.list(SCALARS):
            name = SegmentName.parse(file)
            if name is not None and name not in self._readers:
                self._readers[name] = SegmentReader(run.storage, SCALARS, name)
        for name, reader in sorted(self._readers.items(), key=lambda item: (item[0].attempt, *item[0])):
            if not reader.closed:
                limit = table.limit(name)
                for batch in reader.poll([]):
                    self._add(batch.content, limit, name.worker)

    def loss(self, key: Key) -> list[float | None] | None:
        """Return the values of a scalar that is called a loss; None where they are too many."""
        values = self._losses.get(key)
        return None if values is None else values.tolist()

    def _add(self, rows: TableRows, limit: int | None, worker: str) -> None:
        # Numbers have a way of their own; then both texts are read in one go.
        steps, values, _ = (numbers(rows.column(column)) for column in ("step", "value", "time"))
        values = values.astype(np.float64)
        batch = rows.record_batch()
        (names, name_codes), (modes, mode_codes) = coded_texts(batch["name"]), coded_texts(batch["mode"])
        codes = name_codes.astype(np.int64) * len(modes) + mode_codes
        if limit is not None:
            shown = steps < limit
            codes, steps, values = codes[shown], steps[shown], values[shown]
        if not len(codes):
            return
        order = np.lexsort((steps, codes))  # stable: of one step the row that was written last comes last
        codes, steps, values = codes[order], steps[order], values[order]
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(codes)], strict=True):
            name, mode = divmod(int(codes[start]), len(modes))
            key = (names[name], modes[mode])
            if self._is_first(key, worker):
                self._join(key, steps[start:end], values[start:end])

    def _is_first(self, key: Key, worker: str) -> bool:
        """Whether rows count: of each series those of the first worker by name do, as everywhere."""
        known = self._workers.setdefault(key, worker)
        if worker < known:
            self._workers[key] = worker
            self.series.pop(key, None)
            self._losses.pop(key, None)
        return worker <= known

    def _join(self, key: Key, steps: Array, values: Float64Array) -> None:
        finite = values[np.isfinite(values)]
        new = SeriesTotals(
            len(values),
            len(values) - len(finite),
            float(values[-1]),
            int(steps[-1]),
            float(finite.min()) if len(finite) else None,
            float(finite.max()) if len(finite) else None,
        )
        old = self.series.get(key)
        self.series[key] = new if old is None else old.joined(new)
        if "loss" in key[0].lower():
            before = self._losses.get(key, np.empty(0))
            whole = None if before is None else np.concatenate((before, values))
            self._losses[key] = None if whole is None or len(whole) > MOST_LOSSES else whole


class LossFacts(NamedTuple):
    """A glance at the loss; None stands for what is not finite."""

    name: str
    last: float | None
    best: float | None
    values: tuple[float | None, ...]


def glance_at_loss(run: Run, totals: ScalarTotals, shown: Sequence[Key]) -> LossFacts | None:
    """Return a glance at the loss: the first scalar that is called so, else what a registered loss returned."""
    key = next((key for key in shown if "loss" in key[0].lower()), None)
    series = None if key is None else totals.loss(key)
    if key is not None and series is not None:
        name, last, best = key[0], totals.series[key].last, totals.series[key].min
    else:
        glance = loss_series(run)
        if glance is None:
            return None
        name, last, series = glance.name, glance.last, glance.series
        finite = [value for value in map(_finite, series) if value is not None]
        best = min(finite, default=None) if key is None else totals.series[key].min
    values = tuple(_drawn(value) for value in shrink(series, GLANCE_POINTS))
    return LossFacts(plain_text(name, 200), _finite(last), best, values)


def _drawn(value: float | None) -> float | None:
    # As exact as a line of a few dozen pixels shows; ten thousand of them are held and sent.
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
