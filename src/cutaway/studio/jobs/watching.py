"""Which runs' jobs have changed since the last look, for those who are told of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cutaway.studio.wire.jobs import JobRow

__all__ = ["JobsWatch"]


class JobsWatch:
    """Looks at the same jobs again and again."""

    def __init__(self, rows: Callable[[], Sequence[JobRow]]) -> None:
        self._rows = rows
        self._seen = self._now()

    def look(self) -> list[str]:
        """Return the runs of which a job is new, gone, or not as it was at the last look."""
        before, now = self._seen, self._now()
        self._seen = now
        changed = (now.get(one) or before[one] for one in before.keys() | now.keys() if before.get(one) != now.get(one))
        return sorted({row.run for row in changed})

    def _now(self) -> dict[str, JobRow]:
        return {row.id: row for row in self._rows()}
