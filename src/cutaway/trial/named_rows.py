"""Finds the rows of one tensor among many, without looking at each row in Python."""

from __future__ import annotations

from collections.abc import Iterable, Set

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from cutaway.run.rows import Rows

__all__ = ["NamedRows", "names_at"]

Ints = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]

# Comparing a column with one name is ten times as quick as sorting all its names out, which pays from then on.
LOOKS_BEFORE_SORTING = 8


class NamedRows:
    """The column `tensor` of some rows, asked for the places of single names."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._looks = 0
        self._codes: npt.NDArray[np.int32] | None = None
        self._known: dict[str, int] = {}
        # Where every step has the same names, those of one step tell all.
        step = rows.repeated("tensor")
        self._period = 0 if step is None else len(step)
        self._in_step: dict[str, list[int]] = {}
        for place, name in enumerate([] if step is None else step.to_pylist()):
            self._in_step.setdefault(name, []).append(place)

    def places(self, name: str) -> Places:
        """Return where a name stands, in order."""
        if self._period:
            own = np.array(self._in_step.get(name, []), np.intp)
            return (np.arange(0, len(self._rows), self._period)[:, None] + own).reshape(-1)
        self._looks += 1
        if self._codes is None and self._looks <= LOOKS_BEFORE_SORTING:
            return np.flatnonzero(pc.equal(self._rows.column("tensor"), name).to_numpy(zero_copy_only=False))
        return np.flatnonzero(self._sort() == self._known.get(name, -1))

    def names(self) -> set[str]:
        """Return all names, each once."""
        if self._period:
            return set(self._in_step)
        self._sort()
        return set(self._known)

    def names_at(self, places: npt.NDArray[np.bool_]) -> set[str]:
        """Return the names of some rows, each once."""
        return set(self._rows.take("tensor", np.flatnonzero(places)).unique().to_pylist())

    def _sort(self) -> npt.NDArray[np.int32]:
        if self._codes is None:
            encoded = self._rows.column("tensor").dictionary_encode()
            self._known = {name: code for code, name in enumerate(encoded.dictionary.to_pylist())}
            self._codes = encoded.indices.to_numpy()
        return self._codes


def names_at(steps: Set[int], parts: Iterable[tuple[NamedRows, Ints, Set[int]]]) -> set[str]:
    """Return the names that stand at one of some steps; of each part its names, steps and distinct steps are given."""
    found: set[str] = set()
    for names, rows, distinct in parts:
        common = distinct & steps
        if len(common) == len(distinct):
            found |= names.names()
        elif common:
            found |= names.names_at(np.isin(rows, list(common)))
    return found
