"""The life of a step, whatever the framework: it begins, is offered copies and ends, or it is only counted.

An adapter drives it on the training's thread. Between two steps it looks ahead: while nothing of the coming ones is
recorded the hook is idle, and a step costs next to nothing. Steps and epochs are counted here, and what every step has
beside its tensors is measured: the mean of its losses, its speed, the wait for its batch.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Protocol, SupportsFloat

from cutaway.capture.adapter import Adapter
from cutaway.capture.records import StepRecord
from cutaway.capture.requests import Requests
from cutaway.capture.selection import EVERYTHING, Selection, StepSchedule
from cutaway.run.identity import Run
from cutaway.run.schemas import SCALARS, STEPS
from cutaway.tensors.modes import ModeKeys

__all__ = ["DryRun", "EpochCounter", "StepCounter", "StepLife", "StepMeasures", "StepQueue"]

log = logging.getLogger("cutaway.capture")


class StepMeasures:
    """What is measured from one step to the next."""

    def __init__(self) -> None:
        self.losses: list[SupportsFloat] = []  # those of the open step
        self.data_seconds = 0.0  # how long the loop has waited for the batch of the next step
        self._last_end: float | None = None

    def begin(self, record: StepRecord) -> None:
        """Give a step the time that its batch took."""
        if self.data_seconds:
            record.seconds["data"] = self.data_seconds
            self.data_seconds = 0.0

    def end(self, record: StepRecord) -> None:
        """Add what is known of a step when it ends."""
        if self.losses:
            record.scalars.append(("loss", sum(map(float, self.losses)) / len(self.losses)))
            self.losses.clear()
        now = time.perf_counter()
        if record.samples and self._last_end is not None and record.trains:
            record.scalars.append(("throughput", len(record.samples) / max(now - self._last_end, 1e-9)))
        self._last_end = now

    def interrupt(self) -> None:
        """The loop was held up: how long that took is no part of any step."""
        self._last_end = None

    def forget(self) -> None:
        """Steps were passed over: nothing that is measured between two steps may span them."""
        self._last_end, self.data_seconds = None, 0.0


class EpochCounter:
    """The epoch that a step belongs to: counted by passes over the training samples, unless the loop says it."""

    def __init__(self, epoch: int | None = None) -> None:
        self.epoch = epoch
        self._is_told = False
        self._began = -1  # the step before which the last epoch was counted

    def set(self, epoch: int) -> None:
        """Take the loop's own count; from now on nothing else counts."""
        self.epoch, self._is_told = epoch, True

    def count(self, step: int) -> None:
        """Note that a pass begins before a step. Two loaders side by side begin one epoch: it takes a step between."""
        if not self._is_told and step > self._began:
            self.epoch = 0 if self.epoch is None else self.epoch + 1
            self._began = step


class StepCounter:
    """The numbers of the next step."""

    def __init__(self) -> None:
        self.step = 0
        self._mode_steps = dict.fromkeys(ModeKeys, 0)
        self.newest: tuple[int, ModeKeys, int] | None = None  # the step taken last, its mode, and its number there

    @classmethod
    def after(cls, run: Run) -> tuple[StepCounter, int | None]:
        """Continue the numbers of a run at the newest attempt's first step; also return the last epoch before it."""
        counter = cls()
        counter.step = run.attempts()[-1].from_step
        rows = run.table(STEPS).read(columns=["step", "mode", "mode_step", "epoch"]).sort_by("step")
        before = [row for row in rows.to_pylist() if row["step"] < counter.step]
        for row in before:
            counter._mode_steps[ModeKeys[row["mode"]]] = row["mode_step"] + 1
        # Steps that were only counted, or that a kill kept from being listed, left no row: they belong to the mode
        # that was recorded last.
        last = before[-1]["step"] if before else -1
        mode = before[-1]["mode"] if before else _mode_of_scalars(run, counter.step)
        counter._mode_steps[ModeKeys[mode]] += counter.step - last - 1
        epochs = [row["epoch"] for row in before if row["epoch"] is not None]
        return counter, max(epochs, default=None)

    def take(self, mode: ModeKeys) -> tuple[int, int]:
        """Return the numbers of a step that begins: over all modes, and within its own."""
        step, mode_steps = self.step, self._mode_steps
        mode_step = mode_steps[mode]
        self.step, mode_steps[mode] = step + 1, mode_step + 1
        self.newest = (step, mode, mode_step)
        return step, mode_step

    def mode_step(self, mode: ModeKeys) -> int:
        """Return the number within its mode of the step that comes next."""
        return self._mode_steps[mode]

    @property
    def last(self) -> int:
        """The step that began last, or 0 before the first."""
        return max(self.step - 1, 0)


def _mode_of_scalars(run: Run, end: int) -> str:
    """Return the mode of the last scalar before a step: it is all that a run without listed steps may have."""
    rows = run.table(SCALARS).read(columns=["step", "mode"]).sort_by("step").to_pylist()
    return next((str(row["mode"]) for row in reversed(rows) if row["step"] < end), ModeKeys.GLOBAL.name)


class StepQueue(Protocol):
    """Takes the steps of one hook, in order."""

    def put(self, record: StepRecord) -> None:
        """Take a step that has ended."""

    def add(self, late: StepRecord) -> None:
        """Take what belongs to a step that was put before."""

    def list_counted(self, newest: tuple[int, ModeKeys, int] | None, epoch: int | None) -> None:
        """List the last of the steps that were only counted, so that a resumed run does not use their numbers again."""


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
        self.mode, self.may_train = mode, not mode.evaluates
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
