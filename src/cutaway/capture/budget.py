"""The disk budget: how much of it is used, and by how much capture is thinned so that it is never exceeded."""

from __future__ import annotations

from cutaway.errors import ConfigurationError

__all__ = ["DEFAULT_BUDGET", "RESERVE", "DiskBudget"]

DEFAULT_BUDGET = 5_000_000_000
# For what is written whatever happens: the heads of files, documents, leases, findings and closing marks.
RESERVE = 40_000


class DiskBudget:
    """Halves the rate of capture each time half of what is left has been used.

    The first half of the budget is spent at the full rate, the next quarter at half of it, and so on: the run keeps
    recording, ever more sparsely, and the limit is never reached: whoever writes asks first whether it `fits`.

    >>> budget = DiskBudget(1_000_000)
    >>> budget.spend(600_000)
    True
    >>> budget.thinning
    2
    """

    def __init__(self, limit: int) -> None:
        if limit <= 0:
            message = f"`disk_budget > 0` must hold, but got disk_budget={limit}."
            raise ConfigurationError(message)
        self.limit = limit
        self._room = max(limit - RESERVE, 0)
        self.used = 0
        self.thinning = 1

    def fits(self, size: int) -> bool:
        """Whether so many more bytes stay inside the budget."""
        return self.used + size <= self._room

    def spend(self, size: int) -> bool:
        """Count bytes as written; True when capture must be thinned further from now on."""
        self.used += size
        before = self.thinning
        while self.thinning < 1 << 30 and self.used > self._room - self._room / (2 * self.thinning):
            self.thinning *= 2
        return self.thinning > before
