"""The rows of a growing table as they arrive, for those who keep sums of them and not the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cutaway.run.identity import Run
from cutaway.run.rows import TableRows
from cutaway.run.segment_reader import SegmentReader
from cutaway.run.segments import SegmentName
from cutaway.run.tables import Attempt, Damage

__all__ = ["FreshRows", "NewRows"]


class FreshRows(NamedTuple):
    """Some rows of a training's worker; those of steps from `limit` on have been replaced by a later attempt."""

    content: TableRows
    worker: str
    limit: int | None


class NewRows:
    """Reads one table of a run again and again, each row once. Belongs to one thread."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._readers: dict[SegmentName, SegmentReader] = {}
        self._attempts: list[Attempt] | None = None
        self.damage: list[Damage] = []

    def is_replaced(self, run: Run) -> bool:
        """Whether a new attempt hides rows that were handed out: whoever kept sums of them begins anew."""
        attempts = list(run.attempts())
        replaced = self._attempts is not None and attempts != self._attempts
        if attempts != self._attempts:
            self._readers, self._attempts, self.damage = {}, attempts, []
        return replaced

    def poll(self, run: Run) -> Iterator[FreshRows]:
        """Yield what has been written since the last time, in the order of attempts."""
        table = run.table(self._table)
        for file in run.storage.list(self._table):
            name = SegmentName.parse(file)
            if name is not None and name.role == "train" and name not in self._readers:
                self._readers[name] = SegmentReader(run.storage, self._table, name)
        for name, reader in sorted(self._readers.items(), key=lambda item: (item[0].attempt, *item[0])):
            if not reader.closed:
                limit = table.limit(name)
                for batch in reader.poll(self.damage):
                    yield FreshRows(batch.content, name.worker, limit)
