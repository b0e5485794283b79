"""Decides what of a step is recorded, and which is the next of which anything is. Knows no tensors."""

from __future__ import annotations

import sys

from cutaway.capture.budget import DiskBudget
from cutaway.capture.records import StepRecord
from cutaway.capture.selection import EVERYTHING, NOTHING_DUE, Selection
from cutaway.tensors.modes import ModeKeys

__all__ = ["StepSchedule"]


class StepSchedule:
    """The schedules of the included collections and of statistics, thinned as the disk budget asks."""

    def __init__(self, selection: Selection, statistics_every: int, budget: DiskBudget | None) -> None:
        self.selection = selection
        self._every = statistics_every
        self._budget = budget
        self._due_seen = 0  # steps that were due, to leave some of them out

    def decide(self, record: StepRecord, *, dump: bool) -> None:
        """Say in the record of a step that begins what is recorded of it; of a dump, everything."""
        thinning = 1 if self._budget is None else self._budget.thinning
        record.statistics = bool(self._every) and record.step % (self._every * thinning) == 0
        due = self.selection.due(record.mode, record.mode_step)
        if due:
            record.due = due if self._due_seen % thinning == 0 else NOTHING_DUE
            self._due_seen += 1
        if dump:
            record.due |= {EVERYTHING}
        record.wanted = record.statistics or bool(record.due) or bool(self.selection.nan_watch)

    def next_wanted(self, step: int, mode: ModeKeys, mode_step: int) -> int:
        """Return the first step, from this one on, of which anything is recorded by schedule; far off where none is."""
        thinning = 1 if self._budget is None else self._budget.thinning
        coming = [] if not self._every else [step + -step % (self._every * thinning)]
        due = self.selection.next_due(mode, mode_step)
        if due is not None:
            coming.append(step + due - mode_step)
        return min(coming, default=sys.maxsize)
