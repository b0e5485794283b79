"""Where steps go when they end: to the writer, or in a dry run to the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from cutaway.capture.recorder import Recorder
from cutaway.capture.records import StepRecord
from cutaway.capture.selection import Selection
from cutaway.tensors.modes import ModeKeys

__all__ = ["STATISTICS_PATIENCE", "TENSOR_PATIENCE", "DryRun", "StepQueue", "WriterQueue", "patience_for"]

log = logging.getLogger("cutaway.capture")

# How long a step waits for the writer: a breath for statistics, longer for tensors that were asked for by schedule.
STATISTICS_PATIENCE = 0.25
TENSOR_PATIENCE = 1.0


def patience_for(record: StepRecord) -> float:
    """Return how many seconds a step may wait for the writer."""
    return TENSOR_PATIENCE if record.due else STATISTICS_PATIENCE


class StepQueue(Protocol):
    """Takes the steps of one hook, in order."""

    def put(self, record: StepRecord) -> None:
        """Take a step that has ended."""

    def add(self, late: StepRecord) -> None:
        """Take what belongs to a step that was put before."""

    def list_counted(self, newest: tuple[int, ModeKeys, int] | None, epoch: int | None) -> None:
        """List the last of the steps that were only counted, so that a resumed run does not use their numbers again."""


class WriterQueue:
    """The way of steps to the writer; one that is behind makes them wait, and then they are lost, counted and said."""

    def __init__(self, recorder: Recorder, say_behind: Callable[[int], None]) -> None:
        self.last_listed = -1
        self._recorder = recorder
        self._say_behind = say_behind
        self._lost = 0  # since the last step that was not

    def put(self, record: StepRecord) -> None:
        """Hand a step to the writer."""
        record.thinned = self._lost
        if self._recorder.submit(record, patience_for(record)):
            self._lost = 0
            self.last_listed = record.step
            return
        if not self._recorder.stopped:
            self._lost += 1
            self._say_behind(record.step)
        if record.written is not None:
            record.written(f"step {record.step} could not be recorded; `cutaway runs show` says why")

    def add(self, late: StepRecord) -> None:
        """Hand the writer what belongs to a step that it has."""
        self._recorder.submit(late, TENSOR_PATIENCE)

    def list_counted(self, newest: tuple[int, ModeKeys, int] | None, epoch: int | None) -> None:
        """List the last of the steps that were only counted."""
        if newest is not None and self.last_listed < newest[0]:
            record = StepRecord(*newest, time.time(), epoch)
            if self._recorder.submit(record, TENSOR_PATIENCE):
                self.last_listed = record.step


class DryRun:
    """Logs what would be recorded of each step, and forgets it."""

    def __init__(self, selection: Callable[[], Selection]) -> None:
        self._selection = selection

    def put(self, record: StepRecord) -> None:
        """Log a step."""
        names, selection = [offer.name for offer in record.offers], self._selection()
        if record.slab is not None:
            layout = record.slab.layout
            names += [name for name, here in zip(layout.names, record.slab.present, strict=True) if here]
            record.slab.views.pool.release(record.slab)
        kept = sorted(name for name in names if selection.keep(name, record.due))
        log.info("Dry run, step %d: statistics of %d tensors; would save %s", record.step, len(names), kept or "none")

    def add(self, late: StepRecord) -> None:
        """Leave it."""

    def list_counted(self, newest: tuple[int, ModeKeys, int] | None, epoch: int | None) -> None:
        """Nothing is listed."""
