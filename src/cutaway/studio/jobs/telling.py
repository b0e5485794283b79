"""How a job tells how far it is, from within its own process; and how it hears that it is to end.

A thread of its own writes the progress twice a second at most, moves a counter each second, looks for the word to end,
and keeps the log within its bound. It also ends the process where that does not end by itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Self

from cutaway.errors import StorageError
from cutaway.run.identity import Run
from cutaway.run.jobs import KILL_SECONDS, MOST_LOG_BYTES, JobProgress, end_job, write_progress
from cutaway.run.layout import JOBS

if TYPE_CHECKING:
    from cutaway.evaluation.progress import Progress

__all__ = ["Cancelled", "Teller"]

_LOOK_SECONDS = 0.1
_WRITE_SECONDS = 0.5
_BEAT_SECONDS = 1.0


class Cancelled(BaseException):
    """Somebody wants this job to end. Not an error that code on the way may take for its own."""


class Teller:
    """Tells of one job while it is being done; give `listen` to whatever reports progress."""

    def __init__(self, run: Run, job_id: str) -> None:
        self._run, self._job = run, job_id
        self._now = JobProgress(stage="starting", time=time.time())
        self._began: tuple[str, float, int] = ("", time.monotonic(), 0)
        self._part = ""
        self._written: tuple[JobProgress, float] = (JobProgress(), 0.0)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._to_end_since: float | None = None
        self._thread = threading.Thread(target=self._work, name="cutaway-job", daemon=True)

    def __enter__(self) -> Self:
        signal.signal(signal.SIGTERM, _cancel)
        self._write()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # From here on it ends anyway.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._ended.set()
        self._thread.join()
        self._write()

    def begin(self, part: str) -> None:
        """Say which piece of the work begins."""
        with self._lock:
            self._part = part
            self._now = JobProgress(stage=part, time=time.time(), beat=self._now.beat)
            self._began = (part, time.monotonic(), 0)

    def listen(self, progress: Progress) -> None:
        """Take a report of how far it is."""
        stage = ": ".join(one for one in (self._part, progress.stage) if one)
        now = time.monotonic()
        with self._lock:
            if self._began[0] != stage:
                self._began = (stage, now, progress.done)
            rate, eta = progress.rate, progress.eta
            if rate is None:
                # Not all who report measure; from the second report on we can.
                _, since, first = self._began
                rate = (progress.done - first) / (now - since) if progress.done > first and now > since else None
                eta = (progress.total - progress.done) / rate if rate else None
            self._now = JobProgress(
                stage, progress.done, progress.total or None, progress.unit, rate, eta, time.time(), self._now.beat
            )

    def _work(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self._hear()
            held, at = self._written
            past = time.monotonic() - at
            if past >= _BEAT_SECONDS or (past >= _WRITE_SECONDS and held != self._now):
                self._write()
                self._bound_log()

    def _write(self) -> None:
        with self._lock:
            self._now = replace(self._now, beat=self._now.beat + 1)
            now = self._now
        try:
            write_progress(self._run, self._job, now)
        except StorageError:
            # A full disk ends the work where it writes what it found, and says so there; a run that is gone ends all.
            if not self._run.path.is_dir():
                self._end_at_once()
        self._written = (now, time.monotonic())

    def _hear(self) -> None:
        """End what somebody wants to end: first by a signal to ourselves, later without asking the work."""
        if self._to_end_since is None:
            if (self._run.path / JOBS / self._job / "cancel").exists():
                self._to_end_since = time.monotonic()
                os.kill(os.getpid(), signal.SIGTERM)
        elif time.monotonic() - self._to_end_since > KILL_SECONDS:
            self._end_at_once()

    def _end_at_once(self) -> None:
        # Where it cannot be written, whoever looks sees that the process is gone.
        with contextlib.suppress(StorageError):
            end_job(self._run, self._job, "cancelled")
        if os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    def _bound_log(self) -> None:
        """Let what is printed go nowhere once the log is full: a loop that prints must not fill the disk."""
        if os.fstat(1).st_size <= MOST_LOG_BYTES or not os.path.samestat(os.fstat(1), os.fstat(2)):
            return
        sys.stdout.flush()
        os.write(2, b"\nThis log is full; the rest is left out.\n")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for output in (1, 2):
            os.dup2(nowhere, output)
        os.close(nowhere)


def _cancel(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as handlers of signals are called
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Cancelled
