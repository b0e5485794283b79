"""Counts how far a long piece of work is and tells a listener, a few times a second at most."""

from __future__ import annotations

import time

from cutaway.evaluation.progress import Listener, Progress

__all__ = ["Counter"]

SECONDS_BETWEEN = 0.1


class Counter:
    """Tells `listener` how much of `total` is done; `stage` names the work. Without a listener it costs nothing."""

    def __init__(self, listener: Listener | None, total: int, unit: str, stage: str = "") -> None:
        self._listener, self._total, self._unit, self._stage = listener, total, unit, stage
        self._done = 0
        self._start = self._told = time.monotonic()

    def advance(self, count: int = 1) -> None:
        """Say that so much more is done."""
        self._done += count
        if self._listener is None:
            return
        now = time.monotonic()
        if now - self._told < SECONDS_BETWEEN and self._done < self._total:
            return
        self._told = now
        seconds = now - self._start
        self._listener(Progress(self._done, self._total, self._unit, seconds, self._done, stage=self._stage))
