"""Numbers that every step has beside its tensors: the mean of its losses, its speed, the wait for its batch."""

from __future__ import annotations

import time
from typing import SupportsFloat

from cutaway.capture.records import StepRecord

__all__ = ["StepMeasures"]


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
