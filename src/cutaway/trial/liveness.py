"""Whether the training of a run still writes, found out without ever waiting for the answer.

`Run.state()` waits for the lease of another machine to move. A trial looks again and again anyway, so it remembers
when it saw each lease move instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from cutaway.run.identity import Run
from cutaway.run.leases import CHIEF, LEASE_SECONDS, RunState, last_word, read_leases
from cutaway.run.process import is_alive, is_here
from cutaway.run.segments import WriterId

__all__ = ["Liveness"]

# A writer that ended so has closed its files.
CLOSED = (RunState.FINISHED, RunState.FAILED)


class Liveness:
    """Watches the leases of a run's newest attempt."""

    def __init__(self, run: Run, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._seen: dict[tuple[str, int], tuple[int, float]] = {}  # of each lease its beat, and when it came
        self.attempt = -1
        self.workers: set[str] = set()  # that still write
        self.closed: set[WriterId] = set()  # that closed their files

    def look(self) -> RunState | None:
        """Return what the training is doing, or None where nobody has ever claimed the run."""
        leases = read_leases(self._run.storage, "train")
        self.attempt = max((lease["attempt"] for lease in leases), default=-1)
        states = {lease["worker"]: self._state(lease) for lease in leases if lease["attempt"] == self.attempt}
        self.workers = {worker for worker, state in states.items() if not state.has_ended}
        self.closed = {WriterId("train", worker, self.attempt) for worker, state in states.items() if state in CLOSED}
        if not states:
            return None
        if self.workers:
            return RunState.RUNNING if RunState.RUNNING in states.values() else RunState.STARTING
        return states.get(CHIEF, next(iter(states.values())))

    def _state(self, lease: dict[str, Any]) -> RunState:
        state = RunState(lease["state"])
        if state.has_ended:
            return state
        if is_here(lease):
            return state if is_alive(lease) else last_word(self._run.storage, lease)
        key, now = (lease["worker"], lease["attempt"]), self._clock()
        beat, since = self._seen.get(key, (None, now))
        if beat != lease["beat"]:
            since = now
        self._seen[key] = (lease["beat"], since)
        return state if now - since < LEASE_SECONDS else RunState.LOST
