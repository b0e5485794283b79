"""The recorded steps of a run as plain columns with everything that a person wants to see of a step.

Rules read less, more often: `Windows` is for them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.run.rows import numbers, texts, whole_numbers
from cutaway.run.schemas import STEPS
from cutaway.run.tables import Attempt
from cutaway.tensors.recent_steps import PHASES
from cutaway.trial.follower import Follower
from cutaway.trial.growing import Columns, Growing

__all__ = ["StepColumns", "columns_of_steps", "times_of_steps"]


class StepColumns:
    """The rows of `trace/steps` of the first worker, kept as they arrive; samples are counted over all workers."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._start_over()

    def all(self) -> Columns:
        """Return the columns of all recorded steps, ascending.

        step, mode, mode_step, epoch (-1 where there is none), time, the phases' seconds (NaN where not seen), samples
        (how many, -1 where not known), statistics, thinned.
        """
        if self._attempts != tuple(self._follower.attempts):
            self._start_over()
        reader = self._follower.reader(STEPS)
        for batch in reader.batches[self._grown.seen :]:
            found = columns_of_steps(batch.content.column)
            shown = self._follower.steps.within.mask(found["step"], reader.limit(batch.segment))
            self._workers.setdefault(batch.segment.worker, []).append(
                {name: found[name][shown] for name in ("step", "samples")}
            )
            self._grown.add(batch, found, shown)
            self._counted = False
        if not self._counted:
            self._count()
        return self._grown.columns()

    def _start_over(self) -> None:
        self._attempts: tuple[Attempt, ...] = tuple(self._follower.attempts)
        self._grown = Growing(_no_columns())
        self._workers: dict[str, list[Columns]] = {}
        self._counted = True

    def _count(self) -> None:
        """Add what the other workers were fed to the counts of the first."""
        self._counted = True
        if len(self._workers) < 2:
            return
        columns = self._grown.columns()
        parts = [part for own in self._workers.values() for part in own]
        steps, samples = (np.concatenate([part[name] for part in parts]) for name in ("step", "samples"))
        known = (samples >= 0) & np.isin(steps, columns["step"])
        total = np.full(len(columns["step"]), -1, np.int64)
        places = np.searchsorted(columns["step"], steps[known])
        total[np.unique(places)] = 0
        np.add.at(total, places, samples[known])
        columns["samples"] = total


def columns_of_steps(column: Callable[[str], pa.Array]) -> Columns:
    """Return the columns of some rows of `trace/steps` as arrays, without nulls."""
    return {
        **times_of_steps(column),
        "samples": whole_numbers(column("samples").value_lengths(), -1),
        "statistics": pc.fill_null(column("statistics"), False).to_numpy(zero_copy_only=False),  # noqa: FBT003
        "thinned": whole_numbers(column("thinned"), 0),
    }


def times_of_steps(column: Callable[[str], pa.Array]) -> Columns:
    """Return those of the columns that say which step it was, and how long it took."""
    return {
        "step": numbers(column("step")),
        "mode": texts(column("mode")),
        "mode_step": whole_numbers(column("mode_step"), -1),
        "epoch": whole_numbers(column("epoch"), -1),
        "time": numbers(column("time")).astype(np.float64),
        **{phase: numbers(column(phase)).astype(np.float64) for phase in PHASES},
    }


def _no_columns() -> Columns:
    whole = {name: np.empty(0, np.int64) for name in ("step", "mode_step", "epoch", "samples", "thinned")}
    fractions = {name: np.empty(0, np.float64) for name in ("time", *PHASES)}
    return {**whole, **fractions, "mode": np.empty(0, object), "statistics": np.empty(0, bool)}
