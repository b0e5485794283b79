"""How long a training may wait for the writer before a step is left out.

A writer that is behind on a busy machine catches up in a moment, and a step that was left out never comes back: so one
wait may be long. But waiting must not become a part of every step: all waits together are bounded by a share of the
time that the training takes. Full tensors that were asked for at this very step are waited for in any case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cutaway.capture.records import StepRecord

__all__ = ["FREE_SECONDS", "STATISTICS_PATIENCE", "TENSOR_PATIENCE", "WAITING_SHARE", "Patience"]

# The longest single wait. A disk that stalls costs one, since nobody waits again before the writer has moved.
STATISTICS_PATIENCE = 5.0
TENSOR_PATIENCE = 5.0
# All waits for statistics together: so much is free, since a short training cannot earn it, ...
FREE_SECONDS = 10.0
# ... and so much of the time since the hook was made comes on top.
WAITING_SHARE = 0.05


class Patience:
    """What the waits of one hook have come to."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self.waited = 0.0

    @property
    def for_tensors(self) -> float:
        """How many seconds are waited for what was asked for at this very step."""
        return TENSOR_PATIENCE

    def left_for(self, record: StepRecord) -> float:
        """Return how many seconds this step may wait."""
        if record.due:
            return self.for_tensors
        allowed = FREE_SECONDS + WAITING_SHARE * (self._clock() - self._began)
        return max(min(STATISTICS_PATIENCE, allowed - self.waited), 0.0)

    @contextmanager
    def wait(self, record: StepRecord) -> Iterator[float]:
        """Give the seconds that a step may wait, and count those that it takes."""
        before = self._clock()
        yield self.left_for(record)
        self.waited += self._clock() - before
