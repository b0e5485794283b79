"""Keeps the coarse copy of the statistics while they are written: one batch of `trace/overview` per stretch of steps.

Runs on the writer thread, once per group of steps. A killed writer loses the open stretch only, and nothing with it:
readers take those steps from the statistics themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.capture.statistics_batch import Matrices, Part
from cutaway.run.schemas import OVERVIEW, SCHEMAS
from cutaway.run.segments import TableWriter
from cutaway.tensors.coarse import OpenStretch, Places, Stretch

__all__ = ["CoarseWriter", "stretch_batch"]

# Different sets of tensors that steps may have at a time, such as those of training and of evaluation.
MOST_PATTERNS = 8


class _Pattern(NamedTuple):
    """Which tensors a step has, part by part, and where these stand in the open stretch."""

    names: tuple[pa.Array, ...]
    places: Places

    def fits(self, parts: Sequence[Part]) -> bool:
        return len(parts) == len(self.names) and all(
            part.names is own or part.names.equals(own) for part, own in zip(parts, self.names, strict=True)
        )


class _Neighbours(NamedTuple):
    """Neighbouring steps with the same tensors, and the place of their first row."""

    pattern: _Pattern
    start: int
    steps: list[int]


class CoarseWriter:
    """The open stretch of one hook."""

    def __init__(self, table: Callable[[str], TableWriter]) -> None:
        self._table = table
        self._open = OpenStretch()
        self._patterns: list[_Pattern] = []

    def add(self, parts: Sequence[Part], matrices: Matrices) -> None:
        """Take in the statistics of some steps; `matrices` holds them side by side in the order of the parts."""
        stop, alike = 0, None
        for step, group in groupby(parts, attrgetter("step")):
            own = list(group)
            if alike is not None and len(alike.steps) == self._open.missing:
                # Before the next step is looked up: where the stretch ends here, its places may end with it.
                self._take(alike, stop, matrices)
                alike = None
            pattern = self._pattern_of(own)
            if alike is not None and alike.pattern is not pattern:
                self._take(alike, stop, matrices)
                alike = None
            if alike is None:
                alike = _Neighbours(pattern, stop, [])
            alike.steps.append(step)
            stop += sum(len(part.names) for part in own)
        if alike is not None:
            self._take(alike, stop, matrices)

    def flush(self) -> None:
        """Write the open stretch as it is, as at the end of the training."""
        stretch, places_hold = self._open.close()
        if not places_hold:
            self._patterns.clear()
        if stretch is not None:
            self._table(OVERVIEW).append(stretch_batch(stretch), stretch.first)

    def _take(self, alike: _Neighbours, stop: int, matrices: Matrices) -> None:
        pattern, start, steps = alike
        shape = (-1, len(steps), (stop - start) // len(steps))
        whole, floats = matrices.whole[1:, start:stop], matrices.floats[:, start:stop]
        self._open.add(pattern.places, steps, whole.reshape(shape), floats.reshape(shape))
        if self._open.missing <= 0:
            self.flush()

    def _pattern_of(self, parts: Sequence[Part]) -> _Pattern:
        for pattern in self._patterns:
            if pattern.fits(parts):
                return pattern
        names = tuple(part.names for part in parts)
        found = _Pattern(names, self._open.places([name for own in names for name in own.to_pylist()]))
        self._patterns = [*self._patterns[1 - MOST_PATTERNS :], found]
        return found


def stretch_batch(stretch: Stretch) -> pa.RecordBatch:
    """Return the rows of `trace/overview` of one stretch: a row per tensor."""
    count = len(stretch.names)
    same = {"step": np.full(count, stretch.first), "last_step": np.full(count, stretch.last), "tensor": stretch.names}
    schema = SCHEMAS[OVERVIEW]
    columns = [same[name] if name in same else stretch.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=schema)
