"""Counts how far a long piece of work is and tells a listener, a few times a second at most."""

from __future__ import annotations

import time
from collections.abc import Callable

from cutaway.evaluation.progress import Listener, Progress

__all__ = ["Counter"]

SECONDS_BETWEEN = 0.1


class Counter:
    """Tells `listener` how much of `total` is done; `stage` names the work. Without a listener it costs nothing."""

    def __init__(
        self,
        listener: Listener | None,
        total: int,
        unit: str,
        stage: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener, self._total, self._unit, self._stage, self._clock = listener, total, unit, stage, clock
        self._done = 0
        self._start = self._told = clock()

    def advance(self, count: int = 1) -> None:
        """Say that so much more is done."""
        self._done += count
        if self._listener is None:
            return
        now = self._clock()
        if now - self._told < SECONDS_BETWEEN and self._done < self._total:
            return
        self._told = now
        seconds = now - self._start
        self._listener(Progress(self._done, self._total, self._unit, seconds, self._done, stage=self._stage))
