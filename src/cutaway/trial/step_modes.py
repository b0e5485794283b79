"""In which mode each recorded step of a run was, kept up to date as steps arrive."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import BoolArray, Int64Array
from cutaway.run.identity import Run
from cutaway.run.rows import TableRows, coded_texts, numbers
from cutaway.run.schemas import STEPS
from cutaway.trial.new_rows import NewRows

__all__ = ["StepModes"]


class StepModes:
    """The modes of the steps of the first worker by name. `names` are those of the modes, as codes stand for them."""

    def __init__(self) -> None:
        self._rows = NewRows(STEPS)
        self._begin()

    def _begin(self) -> None:
        self.names: list[str] = []
        self._steps: Int64Array = np.empty(0, np.int64)
        self._codes: Int64Array = np.empty(0, np.int64)
        self._changes: Int64Array = np.empty(0, np.int64)
        self._worker = ""

    @property
    def last(self) -> int:
        """The last recorded step, -1 while there is none: of it and of those before everything has been written."""
        return int(self._steps[-1]) if len(self._steps) else -1

    def poll(self, run: Run) -> None:
        """Take in what has been written since the last time."""
        if self._rows.is_replaced(run):
            self._begin()
        steps, codes = [self._steps], [self._codes]
        for fresh in self._rows.poll(run):
            if not self._worker or fresh.worker < self._worker:
                self._worker, steps, codes = fresh.worker, [], []
            if fresh.worker == self._worker:
                new = numbers(fresh.content.column("step"))
                shown = slice(None) if fresh.limit is None else new < fresh.limit
                steps.append(new[shown])
                codes.append(self._coded(fresh.content)[shown])
        if len(steps) > 1 or steps[0] is not self._steps:
            self._take(np.concatenate(steps), np.concatenate(codes))

    def _coded(self, rows: TableRows) -> Int64Array:
        names, codes = coded_texts(rows.column("mode"))
        self.names += [name for name in names if name not in self.names]
        return np.array([self.names.index(name) for name in names], np.int64)[codes]

    def _take(self, steps: Int64Array, codes: Int64Array) -> None:
        order = np.argsort(steps, kind="stable")
        self._steps, self._codes = steps[order], codes[order]
        self._changes = np.cumsum(self._codes[1:] != self._codes[:-1])
        self._changes = np.concatenate((np.zeros(min(len(steps), 1), np.int64), self._changes))

    def of(self, steps: Int64Array) -> Int64Array:
        """Return the code of the mode of each step: that of the last recorded one at or before it, -1 before all."""
        places = self._places(steps)
        return np.where(places < 0, -1, self._codes[places]) if len(self._codes) else places

    def is_one(self, first: Int64Array, last: Int64Array) -> BoolArray:
        """Whether all recorded steps from one to another, of each pair, were in one mode."""
        start, end = self._places(first), self._places(last)
        if not len(self._changes):
            return np.zeros(len(first), np.bool_)
        same: BoolArray = (start >= 0) & (self._changes[start] == self._changes[end])
        return same

    def _places(self, steps: Int64Array) -> Int64Array:
        return np.searchsorted(self._steps, steps, side="right") - 1
