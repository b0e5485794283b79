"""Keeps the coarse copy of the statistics while they are written: one batch of `trace/overview` per stretch of steps.

Steps that evaluate are kept apart from those that train, in rows of their own.

Runs on the writer thread, once per group of steps. A killed writer loses the open stretch only, and nothing with it:
readers take those steps from the statistics themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array
from cutaway.capture.statistics_batch import Matrices, Part
from cutaway.run.schemas import OVERVIEW, SCHEMAS
from cutaway.run.segments import TableWriter
from cutaway.tensors.coarse import OpenStretches, Places, Stretch

__all__ = ["CoarseWriter", "stretch_batch"]

# Different sets of tensors that steps may have at a time, such as those of training and of evaluation.
MOST_PATTERNS = 8


class _Pattern(NamedTuple):
    """Which tensors a step has, part by part, and where these stand in the open stretch of its kind."""

    names: tuple[pa.Array, ...]
    places: Places
    evaluation: bool

    def fits(self, parts: Sequence[Part], *, evaluation: bool) -> bool:
        return (evaluation, len(parts)) == (self.evaluation, len(self.names)) and all(
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
        self._open = OpenStretches()
        self._patterns: list[_Pattern] = []

    def add(self, parts: Sequence[Part], matrices: Matrices, evaluations: Collection[int] = ()) -> None:
        """Take in the statistics of some steps; `matrices` holds them side by side in the order of the parts.

        `evaluations` are those of the steps at which the model was evaluated.
        """
        stop, alike = 0, None
        for step, group in groupby(parts, attrgetter("step")):
            own = list(group)
            if alike is not None and len(alike.steps) == self._open.missing:
                # Before the next step is looked up: where the stretch ends here, its places may end with it.
                self._take(alike, stop, matrices)
                alike = None
            pattern = self._pattern_of(own, evaluation=step in evaluations)
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
        stretches, places_hold = self._open.close()
        if not places_hold:
            self._patterns.clear()
        if stretches:
            self._table(OVERVIEW).append(stretch_batch(stretches), stretches[0].first)

    def _take(self, alike: _Neighbours, stop: int, matrices: Matrices) -> None:
        pattern, start, steps = alike
        growing = self._open.of(evaluation=pattern.evaluation)
        shape = (-1, len(steps), (stop - start) // len(steps))
        whole, floats = matrices.whole[1:, start:stop], matrices.floats[:, start:stop]
        growing.add(pattern.places, steps, whole.reshape(shape), floats.reshape(shape))
        if self._open.missing <= 0:
            self.flush()

    def _pattern_of(self, parts: Sequence[Part], *, evaluation: bool) -> _Pattern:
        for pattern in self._patterns:
            if pattern.fits(parts, evaluation=evaluation):
                return pattern
        names = tuple(part.names for part in parts)
        growing = self._open.of(evaluation=evaluation)
        found = _Pattern(names, growing.places([name for own in names for name in own.to_pylist()]), evaluation)
        self._patterns = [*self._patterns[1 - MOST_PATTERNS :], found]
        return found


def stretch_batch(stretches: Sequence[Stretch]) -> pa.RecordBatch:
    """Return the rows of `trace/overview` of stretches of the same steps: a row per tensor of each."""
    schema = SCHEMAS[OVERVIEW]
    columns = [np.concatenate([_column(stretch, name) for stretch in stretches]) for name in schema.names]
    pairs = zip(columns, schema.types, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(column, kind) for column, kind in pairs], schema=schema)


def _column(stretch: Stretch, name: str) -> Array:
    if name == "tensor":
        return np.array(stretch.names, object)
    whole = {"step": stretch.first, "last_step": stretch.last}
    return np.full(len(stretch.names), whole[name]) if name in whole else stretch.column(name)
