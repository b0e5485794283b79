"""What became of runs, without waiting: a writer on another machine is looked at again and again until its lease moves.

Keeps no facts. For one thread only.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from cutaway.run.leases import LEASE_SECONDS, RunState, StateWatch, state_watch
from cutaway.run.storage import LocalStorage

__all__ = ["LIVE", "States"]

LIVE = frozenset(("starting", "running", "paused"))
UNKNOWN = "unknown"
# What leases lead to that say what no lease can say.
_NONSENSE = (KeyError, ValueError, TypeError, AttributeError, OSError)


class States:
    """The states of runs, as they are known by now."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._undecided: dict[str, tuple[StateWatch, float]] = {}

    def look(self, run: str, path: str, otherwise: str) -> str:
        """Return the state of a run at a path, `unknown` until it is decided; `otherwise` where nobody held a lease."""
        if run in self._undecided:
            # Its lease may move as often as somebody looks: only the watch that saw it stand still can tell.
            return self._again(run) or UNKNOWN
        storage = LocalStorage(path)
        try:
            watch = state_watch(storage)
            if watch.verdict() is None:
                watch = state_watch(storage, "evaluate")
            if watch.verdict() is None:
                return otherwise
        except _NONSENSE:
            return UNKNOWN
        if not watch.is_decided:
            self._undecided[run] = (watch, self._clock() + LEASE_SECONDS)
            return UNKNOWN
        return _word(watch)

    def look_again(self) -> dict[str, str]:
        """Return the states that have been decided since the last look, by run."""
        found = {run: self._again(run) for run in list(self._undecided)}
        return {run: state for run, state in found.items() if state is not None}

    def _again(self, run: str) -> str | None:
        """Return the state of a run that is being watched, or None as long as it is not decided."""
        watch, until = self._undecided[run]
        try:
            watch.look_again()
        except _NONSENSE:
            del self._undecided[run]
            return UNKNOWN
        if not watch.is_decided and self._clock() < until:
            return None
        del self._undecided[run]
        return _word(watch)

    def forget(self, run: str) -> None:
        """Look no more at a run that is gone."""
        self._undecided.pop(run, None)


def _word(watch: StateWatch) -> str:
    state = watch.verdict() or RunState.LOST
    return "paused" if state is RunState.RUNNING and watch.is_paused else str(state)
