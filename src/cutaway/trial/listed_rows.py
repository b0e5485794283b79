"""The rows of a table that belong to listed steps. The others wait until their step is listed, or are never shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import BoolArray, Int64Array
from cutaway.run.rows import PlainRows, TableRows, numbers
from cutaway.run.tables import Batch, TableReader
from cutaway.trial.step_index import StepIndex

__all__ = ["Listed", "ListedRows", "neighbours"]


class Listed(NamedTuple):
    """Rows of listed steps, and which steps these are."""

    batch: Batch
    steps: set[int]


class ListedRows:
    """Follows one table of a run as far as its steps are listed."""

    def __init__(self, reader: TableReader, steps: StepIndex) -> None:
        self._reader = reader
        self._steps = steps
        self._waiting: list[Batch] = []

    def restart(self) -> None:
        """Look at every row again, as when a new attempt has replaced steps."""
        self._waiting = list(self._reader.batches)

    def poll(self) -> list[Listed]:
        """Return the rows whose steps have been listed since the last poll."""
        candidates, self._waiting = [*self._waiting, *self._reader.poll()], []
        found = []
        for batch in candidates:
            listed, waiting = self._split(batch)
            if listed is not None:
                found.append(listed)
            if waiting is not None:
                self._waiting.append(waiting)
        return found

    def strays(self) -> list[Batch]:
        """Return, once, the rows whose steps were not listed: call it when nobody writes any more."""
        found, self._waiting = self._waiting, []
        return found

    def _split(self, batch: Batch) -> tuple[Listed | None, Batch | None]:
        """Divide rows into those of listed steps and those that wait; what is replaced or out of range is dropped."""
        values, counts = _steps_of(batch.content)
        # Without those of replaced steps, and of steps out of range.
        listed, distinct = self._steps.listed(batch.segment), set(values.tolist())
        if distinct <= listed:
            return Listed(batch, distinct), None
        visible = self._steps.within.mask(values, self._reader.limit(batch.segment))
        shown = np.fromiter((step in listed for step in values.tolist()), bool, len(values))
        ready, waiting = _picked(batch, shown, counts), _picked(batch, visible & ~shown, counts)
        return None if ready is None else Listed(ready, distinct & listed), waiting


def _steps_of(rows: TableRows) -> tuple[Int64Array, Int64Array]:
    """Return the steps of rows, each run of them once, and how many rows each has."""
    steps = rows.per_message("step")
    if steps is not None:
        return steps, np.full(len(steps), len(rows) // len(steps))
    return neighbours(numbers(rows.column("step")))


def neighbours(values: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return runs of equal neighbours: each value once, and how often it stands there."""
    starts = np.concatenate(([0], np.flatnonzero(values[1:] != values[:-1]) + 1)) if len(values) else np.arange(0)
    return values[starts], np.diff(np.append(starts, len(values)))


def _picked(batch: Batch, wanted: BoolArray, counts: Int64Array) -> Batch | None:
    if not wanted.any():
        return None
    return batch._replace(content=PlainRows(batch.rows.filter(pa.array(np.repeat(wanted, counts)))))
