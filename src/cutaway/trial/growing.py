"""Columns of a table that grow by batches, in step order, joined when somebody looks. Reads no files."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, BoolArray
from cutaway.run.tables import Batch

__all__ = ["Columns", "Growing"]

Columns = dict[str, Array]


class Growing:
    """The rows of the first worker that shows up; `empty` is what there is before that."""

    def __init__(self, empty: Columns) -> None:
        self.seen = 0
        self._empty = empty
        self._worker = ""
        self._waiting: list[Columns] = []
        self._joined: Columns = {}

    def add(self, batch: Batch, columns: Columns, shown: BoolArray) -> None:
        """Take in those rows of a batch that are shown; of the first worker only."""
        self.seen += 1
        self._worker = self._worker or batch.segment.worker
        if batch.segment.role != "train" or batch.segment.worker != self._worker:
            return
        if not shown.all():
            columns = {name: column[shown] for name, column in columns.items()}
        self._waiting.append(columns)

    def columns(self) -> Columns:
        """Return everything so far, ascending in `step`."""
        if self._waiting:
            parts = [self._joined, *self._waiting] if self._joined else self._waiting
            self._waiting = []
            joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            order = joined["step"]
            if (order[1:] < order[:-1]).any():
                places = np.argsort(order, kind="stable")
                joined = {name: column[places] for name, column in joined.items()}
            self._joined = joined
        return self._joined or self._empty

    def window(self, start: int, stop: int) -> Columns:
        """Return copies of the rows with `start <= step < stop`."""
        columns = self.columns()
        first, last = np.searchsorted(columns["step"], [start, stop])
        return {name: column[first:last].copy() for name, column in columns.items()}
