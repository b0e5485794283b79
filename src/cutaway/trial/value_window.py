"""The values of single samples over a range of steps, without holding those of all others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.run.rows import numbers
from cutaway.run.schemas import SCHEMAS, VALUES
from cutaway.trial.follower import Follower

__all__ = ["ValueWindow"]


class ValueWindow:
    """The rows of `values`, found by their steps."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._spans: list[tuple[int, int]] = []  # the first and last step of each batch

    def rows(self, start: int, stop: int) -> pa.Table:
        """Return the rows with `start <= step < stop` that no later attempt replaced: step, sample, name, value."""
        reader = self._follower.reader(VALUES)
        reader.poll()
        for batch in reader.batches[len(self._spans) :]:
            steps = numbers(batch.content.column("step"))
            self._spans.append((int(steps.min()), int(steps.max())) if len(steps) else (0, -1))
        found = [SCHEMAS[VALUES].empty_table()]
        for (first, last), batch in zip(self._spans, reader.batches, strict=True):
            if first >= stop or last < start:
                continue
            steps = numbers(batch.content.column("step"))
            shown = self._follower.steps.within.mask(steps, reader.limit(batch.segment))
            places = np.flatnonzero(shown & (steps >= start) & (steps < stop))
            found.append(pa.table({name: batch.content.take(name, places) for name in SCHEMAS[VALUES].names}))
        self._follower.note_damage(VALUES)
        return pa.concat_tables(found)
