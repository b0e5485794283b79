"""The writer thread: takes records in order, writes them in groups, keeps the run's lease alive, looks for requests.

Training never waits for the disk here: `submit` only appends. Records wait for a nudge, for a full queue, or for
`IDLE_SECONDS`; the queue is bounded by `QUEUE`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from cutaway.capture.records import StepRecord
from cutaway.run.leases import BEAT_SECONDS

__all__ = ["GROUP", "QUEUE", "BackgroundWriter"]

# How many steps may be waiting: what a kill can lose.
QUEUE = 8
# How many make it worth to start: several steps in one write cost little more than one.
GROUP = 7
# Steps of this many bytes do not wait: they take long, and would crowd memory together.
LARGE = 16 << 20
# How long fewer wait for company.
IDLE_SECONDS = 0.1


class BackgroundWriter:
    """Runs `write` on a thread of its own with all records that wait.

    Beside it `beat` runs about once a second, and `look` at most every `IDLE_SECONDS`.
    """

    def __init__(
        self,
        write: Callable[[list[StepRecord]], None],
        beat: Callable[[], None],
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._write = write
        self._beat = beat
        self._look = look
        self._waiting: deque[StepRecord] = deque()
        self._changed = threading.Condition()
        self._busy = 0  # records being written
        self._stuck = False
        self._urgent = False
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="cutaway-writer", daemon=True)
        self._thread.start()

    def submit(self, record: StepRecord, patience: float) -> bool:
        """Queue a record; False when the queue stayed full for `patience` seconds."""
        with self._changed:
            if not self._has_room():
                # After one wait in vain nobody waits again until the writer has moved: a stalled disk costs one wait.
                self._stuck = self._stuck or not self._changed.wait_for(self._has_room, patience)
                if self._stuck:
                    return False
            self._waiting.append(record)
            if not self._has_room() or record.raw_bytes >= LARGE:
                self._urgent = True
                self._changed.notify_all()
            return True

    def nudge(self, at_least: int) -> None:
        """Start if so many wait: called when the training thread is about to leave the interpreter for a while.

        Two threads that both need the interpreter make each other wait at every call into a library. A backward pass
        needs it not at all, so the writer does its work then.
        """
        if len(self._waiting) >= at_least:
            with self._changed:
                self._urgent = True
                self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything submitted so far is written."""
        with self._changed:
            self._urgent = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float) -> bool:
        """Write what waits and end the thread; False when it did not end in time."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _has_room(self) -> bool:
        return len(self._waiting) + self._busy < QUEUE

    def _run(self) -> None:
        next_beat = next_look = time.monotonic()
        while True:
            with self._changed:
                if not self._closing and not self._urgent and self._has_room():
                    self._changed.wait(IDLE_SECONDS)
                self._urgent = False
                records = list(self._waiting)
                self._waiting.clear()
                self._busy = len(records)
                ending = self._closing and not records
                self._changed.notify_all()
            if records:
                self._write(records)
                with self._changed:
                    self._busy, self._stuck = 0, False
                    self._changed.notify_all()
            now = time.monotonic()
            if now >= next_look:
                self._look()
                next_look = now + IDLE_SECONDS
            if now >= next_beat:
                self._beat()
                next_beat = time.monotonic() + BEAT_SECONDS
            if ending:
                return
