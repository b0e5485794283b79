"""Finds the rows of one tensor among many, without looking at each row in Python."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from cutaway.arrays import BoolArray, IndexArray, Int32Array, Int64Array
from cutaway.run.rows import TableRows, numbers
from cutaway.trial.listed_rows import Listed

__all__ = ["NamedPart", "NamedRows", "NamesOfParts"]


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
