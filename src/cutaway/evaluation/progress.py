"""How far an evaluation is, as a stream of values. Prints nothing; whoever asked for the stream shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Listener", "Progress"]


@dataclass(frozen=True)
class Progress:
    """How far it is: `done` of `total`, `fresh` of them since this process began `seconds` ago.

    `failed` counts the samples that failed since then; `what` says in words that something unfinished is gone on with.
    `stage` names the piece of work where there are several.
    """

    done: int
    total: int
    unit: str = "samples"
    seconds: float = 0.0
    fresh: int = 0
    failed: int = 0
    what: str = ""
    stage: str = ""

    @property
    def rate(self) -> float | None:
        """How many a second; None before the first."""
        return self.fresh / self.seconds if self.fresh and self.seconds > 0 else None

    @property
    def eta(self) -> float | None:
        """How many seconds are left at this rate; None where nothing is known.

        >>> Progress(30, 100, seconds=3.0, fresh=30).eta
        7.0
        """
        return None if self.rate is None else (self.total - self.done) / self.rate


Listener = Callable[[Progress], None]
