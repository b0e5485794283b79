"""The life of a step, whatever the framework: it begins, is offered copies and ends, or it is only counted.

An adapter drives it on the training's thread. Between two steps it looks ahead: while nothing of the coming ones is
recorded the hook is idle, and a step costs next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from cutaway.capture.adapter import Adapter
from cutaway.capture.measures import StepMeasures
from cutaway.capture.records import StepRecord
from cutaway.capture.requests import Requests
from cutaway.capture.schedule import StepSchedule
from cutaway.capture.selection import EVERYTHING
from cutaway.capture.step_queue import StepQueue
from cutaway.capture.steps import EpochCounter, StepCounter
from cutaway.tensors.modes import ModeKeys

__all__ = ["StepLife"]

_WITHOUT_GRADIENTS = (ModeKeys.EVAL, ModeKeys.PREDICT)


class StepLife:
    """The open step of a hook, and what is known of the next ones."""

    def __init__(
        self, adapter: Adapter, queue: StepQueue, counter: StepCounter, plan: Callable[[], StepSchedule]
    ) -> None:
        self.record: StepRecord | None = None  # of the open step
        self.mode = ModeKeys.GLOBAL  # of the steps that follow
        self.may_train = True  # whether steps of this mode may want gradients
        self.samples: list[str | None] | None = None  # in the batch of the next step
        self.idle = False
        self.may_idle = True
        self.counter = counter
        self.epochs = EpochCounter()
        self.measures = StepMeasures()
        self.queue = queue
        self.requests: Requests | None = None
        self._adapter = adapter
        self._plan = plan
        self._schedule: StepSchedule | None = None  # planned when the first step begins
        self._wakes_at = 0  # while idle: the first step that is recorded again
        self._ended: tuple[Any, ...] | None = None  # what more records of the last step begin with

    @property
    def step(self) -> int:
        """The current step, counted over all modes."""
        return self.record.step if self.record is not None else self.counter.last

    def begin(self, *, trains: bool = False) -> StepRecord:
        """Open the next step and decide what of it is recorded; `trains` where gradients are wanted."""
        schedule = self._schedule
        if schedule is None:
            schedule = self._schedule = self._plan()
        step, mode_step = self.counter.take(self.mode)
        record = StepRecord(step, self.mode, mode_step, time.time(), self.epochs.epoch, trains=trains)
        requests = self.requests
        schedule.decide(record, dump=requests is not None and bool(requests.dumps))
        record.samples, self.samples = self.samples, None
        self.measures.begin(record)
        self.record = record
        return record

    def end(self, *, attend: bool = True) -> None:
        """Hand the open step over, if there is one, and `attend` to requests: the loop is between two steps."""
        record = self.record
        if record is None:
            return
        self._adapter.complete(record)
        self.measures.end(record)
        # Without its tensors, which the writer may hold no longer than it needs them.
        self._ended = record.beginning()
        self.record = None
        requests = self.requests
        if requests is not None and EVERYTHING in record.due:
            record.written = requests.promise_dump(record.step)
        self.queue.put(record)
        self.look_ahead()
        if attend and requests is not None and requests.mail.waiting:
            requests.attend()

    def count(self, *, attend: bool = True) -> None:
        """Count a step of which nothing is recorded."""
        step, _ = self.counter.take(self.mode)
        self._ended = None
        if step + 1 >= self._wakes_at:
            self._set_idle(0)
        requests = self.requests
        if attend and requests is not None and requests.mail.waiting:
            requests.attend()

    def late_record(self) -> StepRecord | None:
        """Return a record for more of the step that ended last, for the queue; None if it was not recorded."""
        return None if self._ended is None else StepRecord.late(self._ended)

    def set_mode(self, mode: ModeKeys) -> None:
        """End the open step; those that follow are of this mode."""
        self.end()
        self.mode, self.may_train = mode, mode not in _WITHOUT_GRADIENTS
        self.look_ahead()

    def set_samples(self, samples: list[str | None] | None) -> None:
        """Say which samples the next step has: one whose samples are known is recorded."""
        self.samples = samples
        if samples is not None:
            self.wake()

    def wake(self) -> bool:
        """Record from the next step on; False where that is so already."""
        was_idle = self.idle
        if was_idle:
            self._set_idle(0)
        return was_idle

    def look_ahead(self) -> None:
        """Find the next step of which anything is recorded, so that the steps before it cost next to nothing."""
        schedule = self._schedule
        if schedule is None or not self.may_idle or self.record is not None or schedule.selection.nan_watch:
            return
        step = self.counter.step
        if self.requests is not None and self.requests.dumps:
            self._wakes_at = step
        else:
            self._wakes_at = schedule.next_wanted(step, self.mode, self.counter.mode_step(self.mode))
        self._set_idle(0 if self.samples is not None else self._wakes_at - step)

    def list_counted(self) -> None:
        """Leave a trace of steps that were only counted: the run may end here."""
        self.queue.list_counted(self.counter.newest, self.epochs.epoch)

    def _set_idle(self, steps: int) -> None:
        idle = steps > 0
        if idle or self.idle:
            if not idle:
                self.measures.forget()
            self.idle = idle
            self._adapter.set_idle(steps)
