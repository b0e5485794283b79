"""One process's writing side of a run: its attempt, lease, tables, budget, and what it has to say about itself.

A storage that fails stops the capture, never the training: it is logged once, and recorded where that is possible.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from cutaway.capture.background import GROUP, BackgroundWriter
from cutaway.capture.budget import DiskBudget
from cutaway.capture.mailbox import Mailbox
from cutaway.capture.observing import Observer, Observing
from cutaway.capture.patience import Patience
from cutaway.capture.records import Offer, Slab, StepRecord
from cutaway.capture.selection import Selection
from cutaway.capture.step_writer import StepWriter
from cutaway.capture.tensorboard import EventWriter
from cutaway.run.failure import TrainingFailure
from cutaway.run.findings import Finding, Severity, append_findings
from cutaway.run.identity import Run
from cutaway.run.leases import CHIEF, Lease, RunState
from cutaway.run.schemas import FINDINGS, SCALARS, TENSORS, VALUES
from cutaway.run.segments import TableWriter, WriterId
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys

__all__ = ["Recorder"]

log = logging.getLogger("cutaway.capture")

# How long closing waits for the writer: long enough for a slow disk, short enough for a person.
CLOSE_SECONDS = 60.0
# About what one row that comes by itself takes on disk, with the head of its batch.
SCALAR_BYTES = 1_000


class Recorder:
    """Owns everything that a hook writes.

    It takes the steps of the hook too: where the writer is behind they wait, and then they are lost, counted and said.
    """

    def __init__(
        self,
        run: Run,
        who: WriterId,
        lease: Lease,
        budget: DiskBudget,
        events: EventWriter | None = None,
        *,
        stopped: Callable[[], None] = lambda: None,
    ) -> None:
        self.run = run
        self.who = who
        self.budget = budget
        self.stopped = False
        self.patience = Patience()
        # The chief alone takes requests: what it does the others follow, or cannot be asked for.
        self.mail = Mailbox(run.storage, who.attempt) if who.worker == CHIEF else None
        self.stopped_by: dict[str, Any] | None = None  # who asked the training to stop, and why
        self._on_stop = stopped
        self._lease = lease
        self._events = events
        self._tables: dict[str, TableWriter] = {}
        self._tables_lock = threading.Lock()
        self._said: set[str] = set()
        self._spent = 0
        self._spending = threading.Lock()
        self._steps: StepWriter | None = None
        self._observing: Observing | None = None
        self._refused = 0
        self._last_listed = -1
        self._lost = 0  # steps since the last one that was not
        self._writer = BackgroundWriter(self._write_and_tell, self._beat, self._look)

    def begin(self, selection: Selection) -> None:
        """Say what is to be kept; before the first record."""
        taken = None if self._observing is None else self._observing.take
        self._steps = StepWriter(self._table, selection, self.budget, self.release, self._spend, taken=taken)

    def observe(self, observers: Sequence[Observer], collections: Collections) -> None:
        """Let observers look on; before `begin`."""
        self._observing = Observing(observers, collections, self.run, self.who, self)

    def put(self, record: StepRecord) -> None:
        """Take a step that has ended."""
        record.thinned = self._lost
        with self.patience.wait(record) as seconds:
            taken = self.submit(record, seconds)
        if taken:
            self._lost = 0
            self._last_listed = record.step
            return
        if not self.stopped:
            self._lost += 1
            self.say_behind(record.step)
        if record.written is not None:
            record.written(f"step {record.step} could not be recorded; `cutaway runs show` says why")

    def add(self, late: StepRecord) -> None:
        """Take what belongs to a step that was put before."""
        self.submit(late, self.patience.for_tensors)

    def list_counted(self, newest: tuple[int, ModeKeys, int] | None, epoch: int | None) -> None:
        """List the last of the steps that were only counted."""
        if newest is not None and self._last_listed < newest[0]:
            record = StepRecord(*newest, time.time(), epoch)
            if self.submit(record, self.patience.for_tensors):
                self._last_listed = record.step

    def submit(self, record: StepRecord, patience: float) -> bool:
        """Queue a step's record. False when it was dropped."""
        if not self.stopped and self._writer.submit(record, patience):
            return True
        if record.slab is not None:
            self.release(record.slab)
        return False

    def nudge(self, *, urgently: bool = False) -> None:
        """Let the writer work now: on a group that is worth it, or urgently on whatever waits."""
        self._writer.nudge(at_least=1 if urgently else GROUP)

    def release(self, slab: Slab) -> None:
        """Give a slab back to the pool that it came from."""
        slab.views.pool.release(slab)

    def save_scalar(self, name: str, value: float, step: int, mode: str, when: float) -> None:
        """Write one scalar; when this returns it survives the process."""
        if self._may_write(SCALAR_BYTES + len(name)):
            with self._stopping():
                self._table(SCALARS).append_records([(name, step, mode, value, when)], step)
                if self._observing is not None:
                    self._observing.take_scalar(name, value, step, mode)
                if self._events is not None:
                    self._events.add_scalar(mode, name, value, step, when)

    def save_tensor(self, step: int, offer: Offer) -> None:
        """Write one full tensor; when this returns it survives the process."""
        if self.stopped:
            return
        if not self.budget.fits(offer.array.nbytes + SCALAR_BYTES):
            self._say_refused()
            return
        row: dict[str, Sequence[object]] = {
            "step": [step],
            "tensor": [offer.name],
            "dtype": [offer.dtype],
            "shape": [offer.array.shape],
        }
        with self._stopping():
            self._table(TENSORS).append_tensors(row, step, [np.ascontiguousarray(offer.array)])
            self._spend()

    def save_sample_values(self, step: int, samples: Sequence[str], name: str, values: Sequence[float]) -> None:
        """Write one value per sample; when this returns they survive the process."""
        count = len(samples)
        if count and self._may_write(SCALAR_BYTES + sum(map(len, samples)) + count * (len(name) + 32)):
            rows = {"step": [step] * count, "sample": samples, "name": [name] * count, "value": values}
            with self._stopping():
                self._table(VALUES).append_rows(rows, step)

    def _may_write(self, size: int) -> bool:
        """Whether so many bytes can be written; a budget that is used up ends the capture."""
        if self.stopped:
            return False
        if self.budget.fits(size):
            return True
        limit = _bytes(self.budget.limit)
        self.stop(f"the disk budget of {limit} is used up. Give a larger `disk_budget`, or save less")
        return False

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """Turn whatever goes wrong with a write into the end of the capture, never of the training."""
        try:
            yield
        except OSError as error:
            self.stop(str(error))
        except Exception as error:
            # Whatever else goes wrong here is our defect; it must cost the user a gap, not the training.
            log.debug("Writing failed", exc_info=True)
            self.stop(f"{type(error).__name__}: {error}.")

    def say(self, code: str, severity: Severity, message: str, *, once: bool = True, **where: Any) -> None:
        """Record a finding about the capture itself and log it."""
        if once and code in self._said:
            return
        self._said.add(code)
        log.log(logging.INFO if severity == "info" else logging.WARNING, "%s", message)
        self._append(Finding(code, severity, message, where=where, source=f"capture {self.who.worker}"))

    def say_behind(self, step: int) -> None:
        """Say that the writer could not take a step in time."""
        self.say(
            "writer-behind",
            "warning",
            f"The writer could not keep up at step {step}: some steps are not recorded. `cutaway runs show "
            f"{self.run.name}` counts them; a larger `statistics_every` avoids it.",
            step=step,
        )

    def record(self, finding: Finding) -> None:
        """Record what was concluded about the training and log it."""
        log.log(logging.INFO if finding.severity == "info" else logging.WARNING, "%s", finding.message)
        self._append(finding)

    def _append(self, finding: Finding) -> None:
        try:
            append_findings(self._table(FINDINGS), [finding])
        except OSError as error:
            # The line in the log is all that a full or vanished disk leaves us.
            log.debug("Could not record %s: %s", finding.code, error)

    def stop(self, reason: str) -> None:
        """Stop capturing for good, say so once, and let the training go on."""
        if self.stopped:
            return
        self.stopped = True
        self._on_stop()
        message = f"Capture of {self.run.name!r} stopped: {reason.rstrip('.')}. Training goes on."
        self.say("capture-stopped", "error", message)

    def flush(self, timeout: float = CLOSE_SECONDS) -> bool:
        """Wait until everything submitted is written; False when capture has stopped."""
        written = self._writer.flush(timeout)
        self._observe(settled=True)
        return written and not self.stopped

    def close(self, state: RunState, error: BaseException | None = None) -> None:
        """Write what waits, close every file, and say how it ended: of a failure with which exception."""
        if not self._writer.close(CLOSE_SECONDS):
            self.stop(f"the disk did not take what was left within {CLOSE_SECONDS:.0f} s.")
        elif self._steps is not None and not self.stopped:
            with self._stopping():
                self._steps.close()
        self._observe(settled=True)
        # Whoever waits for an answer hears it before the run is closed.
        self._look()
        for table in self._tables.values():
            try:
                table.close()
            except OSError as trouble:
                self.stop(str(trouble))
        if self._events is not None:
            self._events.close()
        try:
            self._lease.release(state, None if error is None else TrainingFailure.of(error))
            if self.who.worker == CHIEF:
                self.run.identity["state"] = state
                if self.stopped_by is not None:
                    self.run.identity["stopped_by"] = self.stopped_by
                self.run.save_identity()
        except OSError as trouble:
            # Where the capture has stopped, the user knows already that this storage fails.
            level = logging.DEBUG if self.stopped else logging.WARNING
            log.log(level, "Could not record that run %r is %s: %s", self.run.name, state, trouble)

    def _table(self, name: str) -> TableWriter:
        with self._tables_lock:
            found = self._tables.get(name)
            if found is None:
                found = self._tables[name] = self.run.writer(name, self.who)
            return found

    def _write_and_tell(self, records: Sequence[StepRecord]) -> None:
        refused = 0 if self._steps is None else self._steps.refused
        self._write(records)
        for record in records:
            if record.written is not None:
                fits = self._steps is not None and self._steps.refused == refused
                trouble = "" if fits else "full tensors no longer fit the disk budget"
                record.written("the capture has stopped; `cutaway runs show` says why" if self.stopped else trouble)

    def _write(self, records: Sequence[StepRecord]) -> None:
        if self.stopped or self._steps is None:
            for record in records:
                if record.slab is not None:
                    self.release(record.slab)
            return
        if self._may_write(sum(record.likely_bytes for record in records)):
            with self._stopping():
                self._steps.write(records)
                self._export(records)
                self._spend()

    def _export(self, records: Sequence[StepRecord]) -> None:
        if self._events is not None:
            for record in records:
                for name, value in record.scalars:
                    self._events.add_scalar(record.mode.name, name, value, record.step, record.time)

    def _spend(self) -> None:
        """Count what was written since the last time, and say what follows from it."""
        with self._tables_lock:
            tables = list(self._tables.values())
        with self._spending:
            written = sum(table.bytes_written for table in tables)
            grown, self._spent = written - self._spent, written
            thinned = self.budget.spend(grown)
        if thinned:
            used, limit = _bytes(self.budget.used), _bytes(self.budget.limit)
            self.say(
                "capture-thinned",
                "warning",
                f"{used} of the disk budget of {limit} are used: from now on one in {self.budget.thinning} steps is "
                "recorded. Give a larger `disk_budget`, or save less.",
                once=False,
            )
        refused = 0 if self._steps is None else self._steps.refused
        if refused > self._refused:
            self._refused = refused
            self._say_refused()

    def _say_refused(self) -> None:
        self.say("tensors-refused", "warning", "Full tensors no longer fit the disk budget and are not saved.")

    def show_running(self) -> None:
        """Let readers see that the hook is ready: the training no longer starts."""
        self._show(self._lease.show_running)

    def show_paused(self, *, paused: bool) -> None:
        """Let readers see that the training waits, or that it goes on."""
        self._show(partial(self._lease.show_paused, paused=paused))

    def _show(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            # The next beat says so again, or ends the capture.
            log.debug("Could not show how the training stands: %s", error)

    def _look(self) -> None:
        if self.mail is not None:
            self.mail.look()
        self._observe(settled=False)

    def _observe(self, *, settled: bool) -> None:
        if self._observing is not None and not self.stopped:
            self._observing.look(settled=settled)

    def _beat(self) -> None:
        try:
            self._lease.beat()
        except OSError as error:
            self.stop(str(error))


def _bytes(size: int) -> str:
    """Write a size as people do."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"
