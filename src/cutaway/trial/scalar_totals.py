"""The numbers that a run saved, as totals of each name and mode, kept up to date as rows arrive."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, Float64Array
from cutaway.run.identity import Run
from cutaway.run.rows import coded_texts, numbers
from cutaway.run.schemas import SCALARS
from cutaway.run.tables import Damage
from cutaway.trial.new_rows import FreshRows, NewRows
from cutaway.trial.series_totals import Key, Outline, SeriesTotals, totals_of

__all__ = ["ScalarTotals"]


class ScalarTotals:
    """The scalars of one run. Holds none of its rows, so it can be kept while a run is live."""

    def __init__(self) -> None:
        self._rows = NewRows(SCALARS)
        self._begin()

    def _begin(self) -> None:
        self.series: dict[Key, SeriesTotals] = {}
        self.outlines: dict[Key, Outline] = {}
        self._workers: dict[Key, str] = {}

    @property
    def damage(self) -> list[Damage]:
        """What could not be read so far."""
        return self._rows.damage

    def poll(self, run: Run) -> None:
        """Take in what has been written since the last time; begin anew where an attempt has replaced rows."""
        if self._rows.is_replaced(run):
            self._begin()
        for fresh in self._rows.poll(run):
            self._add(fresh)

    def _add(self, fresh: FreshRows) -> None:
        rows = fresh.content
        # Numbers have a way of their own; then both texts are read in one go.
        steps, values, _ = (numbers(rows.column(column)) for column in ("step", "value", "time"))
        values = values.astype(np.float64)
        batch = rows.record_batch()
        (names, name_codes), (modes, mode_codes) = coded_texts(batch["name"]), coded_texts(batch["mode"])
        codes = name_codes.astype(np.int64) * len(modes) + mode_codes
        if fresh.limit is not None:
            shown = steps < fresh.limit
            codes, steps, values = codes[shown], steps[shown], values[shown]
        if not len(codes):
            return
        order = np.lexsort((steps, codes))  # stable: of one step the row that was written last comes last
        codes, steps, values = codes[order], steps[order], values[order]
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(codes)], strict=True):
            name, mode = divmod(int(codes[start]), len(modes))
            key = (names[name], modes[mode])
            if self._is_first(key, fresh.worker):
                self._join(key, steps[start:end], values[start:end])

    def _is_first(self, key: Key, worker: str) -> bool:
        """Whether rows count: of each series those of the first worker by name do, as everywhere."""
        known = self._workers.setdefault(key, worker)
        if worker < known:
            self._workers[key] = worker
            self.series.pop(key, None)
            self.outlines.pop(key, None)
        return worker <= known

    def _join(self, key: Key, steps: Array, values: Float64Array) -> None:
        new, old = totals_of(steps, values), self.series.get(key)
        self.series[key] = new if old is None else old.joined(new)
        self.outlines.setdefault(key, Outline()).add(values)
