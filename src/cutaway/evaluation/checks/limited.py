"""Calls somebody's function for a limited time. Whatever it does - raise, sleep, exit, fork - the caller goes on."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["CallOutcome", "LimitedCalls"]


class CallOutcome(NamedTuple):
    """What came of a call: a value or an error, and how long it took. `late` says that it was not waited for longer."""

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    late: bool = False


class LimitedCalls:
    """Calls functions one at a time on a thread of its own, each for at most `seconds`.

    A call that takes longer is left behind on its thread, which nothing waits for, and the next call gets a new one.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._worker: _CallThread | None = None

    def __call__(self, function: Callable[[], Any], seconds: float | None = None) -> CallOutcome:
        """Call a function of no arguments; `seconds` is another limit for this call."""
        limit = self.seconds if seconds is None else seconds
        if self._worker is None:
            self._worker = _CallThread()
        worker = self._worker
        worker.jobs.put(function)
        try:
            return worker.outcomes.get(timeout=limit)
        except queue.Empty:
            worker.jobs.put(None)
            self._worker = None
            return CallOutcome(seconds=limit, late=True)

    def close(self) -> None:
        """Let the thread end; one that was left behind ends when its call does."""
        if self._worker is not None:
            self._worker.jobs.put(None)
            self._worker = None


class _CallThread:
    """A daemon thread with a queue before and behind it."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self.outcomes: queue.SimpleQueue[CallOutcome] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="cutaway-check", daemon=True).start()

    def _work(self) -> None:
        process = os.getpid()
        while (job := self.jobs.get()) is not None:
            start = time.perf_counter()
            try:
                outcome = CallOutcome(job(), None, time.perf_counter() - start)
            except BaseException as error:  # noqa: BLE001  # also SystemExit: it is somebody's code, and not our end
                outcome = CallOutcome(None, error, time.perf_counter() - start)
            if os.getpid() != process:
                # The function forked and came back in the child too. Of that copy nothing may be written or cleaned up.
                os._exit(0)
            self.outcomes.put(outcome)
