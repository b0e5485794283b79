"""Stretches of steps as rows, one per stretch and tensor, whether they were written or worked out while reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cutaway.arrays import Array, Int64Array
from cutaway.run.rows import TableRows, numbers
from cutaway.run.tables import Batch
from cutaway.tensors.coarse import Stretch
from cutaway.trial.listed_rows import neighbours
from cutaway.trial.named_rows import NamedRows

__all__ = ["StretchRows", "owned_rows", "owners_of"]


class StretchRows:
    """Stretches of one worker as rows, one per stretch and tensor. `at` and `codes` say which of both a row is."""

    def __init__(
        self, worker: str, spans: tuple[Int64Array, Int64Array], at: Int64Array, names: Sequence[str], codes: Int64Array
    ) -> None:
        self.worker = worker
        self.first, self.last = spans
        self.at, self.names, self.codes = at, names, codes
        self._rows: TableRows | None = None
        self._kept: Int64Array | None = None
        self._stretches: Sequence[Stretch] = ()

    @classmethod
    def of_batch(cls, batch: Batch, limit: int | None) -> StretchRows:
        """Take the stretches of a batch that end before a later attempt took over."""
        rows = batch.content
        first, counts = neighbours(numbers(rows.column("step")))
        last = numbers(rows.column("last_step"))[np.cumsum(counts) - counts]
        small, names = NamedRows(rows).codes()
        codes = small.astype(np.int64)
        whole = np.ones(len(first), bool) if limit is None else last < limit
        at = np.repeat(np.cumsum(whole) - 1, counts)
        kept = None if whole.all() else np.flatnonzero(np.repeat(whole, counts))
        if kept is not None:
            # Without the names that only replaced stretches have.
            used = np.unique(codes[kept])
            codes = np.searchsorted(used, codes[kept])
            at, names = at[kept], [names[code] for code in used.tolist()]
        found = cls(batch.segment.worker, (first[whole], last[whole]), at, names, codes)
        found._rows, found._kept = rows, kept
        return found

    @classmethod
    def of_stretches(cls, worker: str, stretches: Sequence[Stretch]) -> StretchRows:
        """Take stretches that were worked out here; at least one."""
        known: dict[str, int] = {}
        of_names = {one.names: np.empty(0, np.int64) for one in stretches}
        for names in of_names:
            of_names[names] = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
        at = np.repeat(np.arange(len(stretches)), [len(one.names) for one in stretches])
        codes = np.concatenate([of_names[one.names] for one in stretches])
        first, last = (np.array([getattr(one, end) for one in stretches], np.int64) for end in ("first", "last"))
        found = cls(worker, (first, last), at, list(known), codes)
        found._stretches = stretches
        return found

    def column(self, name: str) -> Array:
        """Return a column of `trace/overview`."""
        if self._rows is None:
            return np.concatenate([stretch.column(name) for stretch in self._stretches])
        whole = numbers(self._rows.column(name))
        return whole if self._kept is None else whole[self._kept]

    def take(self, name: str, places: Array) -> Array:
        """Return a column at some rows."""
        if self._rows is None:
            return self.column(name)[places]
        return numbers(self._rows.take(name, places if self._kept is None else self._kept[places]))


def owners_of(pieces: Sequence[StretchRows]) -> dict[str, str]:
    """Return for each tensor the worker whose statistics are shown: the first by name that has any."""
    owners: dict[str, str] = {}
    for piece in sorted(pieces, key=lambda piece: (piece.first.min(), piece.worker)):
        for name in piece.names:
            owners[name] = min(owners.get(name, piece.worker), piece.worker)
    return owners


def owned_rows(
    piece: StretchRows, owners: Mapping[str, str], number: Mapping[str, int]
) -> tuple[Int64Array, Int64Array]:
    """Return the rows of a piece that are shown, and the number of each one's tensor."""
    of_code = [number.get(name, -1) if owners[name] == piece.worker else -1 for name in piece.names]
    own = np.array(of_code, np.int64)[piece.codes]
    rows = np.flatnonzero(own >= 0)
    return rows, own[rows]
