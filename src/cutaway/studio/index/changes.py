"""What has changed among the runs, for those who ask again and again. Bounded: who asks too late is told so."""

from __future__ import annotations

import threading
from collections import deque
from typing import Literal, NamedTuple

__all__ = ["Change", "Changes"]

MOST_KEPT = 4096
What = Literal["listed", "state", "indexing"]


class Change(NamedTuple):
    """One change: runs appeared, vanished or have other values (`listed`), or a run has another state."""

    number: int
    what: What
    run: str | None
    state: str | None


class Changes:
    """The newest changes, numbered from 1."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Change] = deque(maxlen=MOST_KEPT)
        self._last = 0

    @property
    def last(self) -> int:
        """The number of the newest change; 0 while there is none."""
        return self._last

    def note(self, what: What, run: str | None = None, state: str | None = None) -> None:
        """Note a change."""
        with self._lock:
            self._last += 1
            self._kept.append(Change(self._last, what, run, state))

    def since(self, number: int) -> list[Change]:
        """Return the changes after a number; where some of them are no longer kept, one that says to list again."""
        with self._lock:
            if number >= self._last:
                return []
            if not self._kept or self._kept[0].number > number + 1:
                return [Change(self._last, "listed", None, None)]
            return [change for change in self._kept if change.number > number]
