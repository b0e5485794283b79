"""The rows of a table that belong to listed steps, and among them those of one tensor.

The others wait until their step is listed, or are never shown. No row is looked at in Python for its tensor's name.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import BoolArray, IndexArray, Int32Array, Int64Array
from cutaway.run.rows import PlainRows, TableRows, numbers
from cutaway.run.tables import Batch, TableReader
from cutaway.trial.step_index import StepIndex

__all__ = ["Listed", "ListedRows", "NamedPart", "NamedRows", "NamesOfParts", "neighbours"]


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


# Comparing a column with one name is ten times as quick as sorting all its names out, which pays from then on.
LOOKS_BEFORE_SORTING = 8


class NamedRows:
    """The column `tensor` of some rows, asked for the places of single names."""

    def __init__(self, rows: TableRows) -> None:
        self._rows = rows
        self._looks = 0
        self._codes: Int32Array | None = None
        self._known: dict[str, int] = {}

    def places(self, name: str) -> IndexArray:
        """Return where a name stands, in order."""
        found = self._rows.places_of("tensor", name)
        if found is not None:
            return found
        self._looks += 1
        if self._codes is None and self._looks <= LOOKS_BEFORE_SORTING:
            return np.flatnonzero(pc.equal(self._rows.column("tensor"), name).to_numpy(zero_copy_only=False))
        return np.flatnonzero(self._sort() == self._known.get(name, -1))

    def names(self) -> set[str]:
        """Return all names, each once."""
        step = self._rows.repeated("tensor")
        if step is not None:
            return set(step.to_pylist())
        self._sort()
        return set(self._known)

    def names_at(self, places: BoolArray) -> set[str]:
        """Return the names of some rows, each once."""
        return set(self._rows.take("tensor", np.flatnonzero(places)).unique().to_pylist())

    def codes(self) -> tuple[Int32Array, list[str]]:
        """Return a number for each row's name, and the names that the numbers count."""
        codes = self._sort()
        return codes, list(self._known)

    def _sort(self) -> Int32Array:
        if self._codes is None:
            repeated = self._rows.repeated("tensor")
            column = self._rows.column("tensor") if repeated is None else repeated
            # A row without a name, which only a stranger writes, is one of the empty name.
            encoded = column.fill_null("").dictionary_encode()
            self._known = {name: code for code, name in enumerate(encoded.dictionary.to_pylist())}
            codes = encoded.indices.to_numpy()
            self._codes = codes if repeated is None else np.tile(codes, len(self._rows) // max(len(repeated), 1))
        return self._codes


class NamedPart:
    """Some rows of a table of tensors, all of listed steps."""

    def __init__(self, listed: Listed) -> None:
        batch, self.distinct_steps = listed
        self.worker = batch.segment.worker
        self.rows = batch.content
        self.names = NamedRows(batch.content)

    @cached_property
    def steps(self) -> Int64Array:
        """The step of each row."""
        return numbers(self.rows.column("step"))


class NamesOfParts:
    """The names of the tensors in some parts, which may become more; each part is looked at once."""

    def __init__(self, parts: Sequence[NamedPart]) -> None:
        self._parts = parts
        self._seen = 0
        self._names: set[str] = set()

    def all(self) -> set[str]:
        """Return all names."""
        for part in self._parts[self._seen :]:
            self._names |= part.names.names()
        self._seen = len(self._parts)
        return self._names

    def at(self, steps: Set[int]) -> set[str]:
        """Return the names that stand at one of some steps."""
        found: set[str] = set()
        for part in self._parts:
            common = part.distinct_steps & steps
            if common and len(common) == len(part.distinct_steps):
                found |= part.names.names()
            elif common:
                found |= part.names.names_at(np.isin(part.steps, list(common)))
        return found
