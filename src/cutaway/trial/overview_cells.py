"""Statistics of some tensors as grids of tensor x stretch: from stretches of steps, or from single steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, IndexArray, Int64Array
from cutaway.tensors.coarse import Extremes, merge_neighbours
from cutaway.trial.raw_statistics import RawStatistics
from cutaway.trial.stretches import StretchRows, owned_rows

__all__ = ["OverviewCells", "OverviewRequest", "cells_of_steps", "cells_of_stretches", "spans_within"]


class OverviewRequest(NamedTuple):
    """Which statistics of which tensors, and whose of several workers; as which kind of numbers."""

    statistics: tuple[str, ...]
    tensors: Sequence[str]
    owners: Mapping[str, str]
    kind: type[np.floating[Any]]

    @property
    def number(self) -> dict[str, int]:
        """The place of each tensor."""
        return {name: i for i, name in enumerate(self.tensors)}

    def nothing(self, columns: int) -> Array:
        """Return a grid without any value."""
        return np.full((len(self.tensors), columns), np.nan, self.kind)


class OverviewCells(NamedTuple):
    """The grids of the wanted statistics; a column begins at its `first` step, the last ends before `end`."""

    first: Int64Array
    end: int
    grids: Mapping[str, Extremes]
    there: BoolArray

    def merged(self, each: int) -> OverviewCells:
        """Return the same with every `each` neighbouring columns as one."""
        grids = {name: merge_neighbours(grid, self.there, each) for name, grid in self.grids.items()}
        return OverviewCells(self.first[::each], self.end, grids, self.there[:, ::each])

    @property
    def steps(self) -> Int64Array:
        """Where the columns begin and, at the end, where the last one ends."""
        return np.append(self.first, self.end) if len(self.first) else self.first


def spans_within(pieces: Sequence[StretchRows], start: int, stop: int) -> tuple[Int64Array, int]:
    """Return the first and last step of each stretch that reaches into a window, and about how many rows lie there."""
    found, rows = [np.empty((0, 2), np.int64)], 0.0
    for piece in pieces:
        inside = (piece.first < stop) & (piece.last >= start)
        found.append(np.stack([piece.first, piece.last], axis=1)[inside])
        common = np.minimum(piece.last, stop - 1) - np.maximum(piece.first, start) + 1
        share = np.maximum(common, 0) / (piece.last - piece.first + 1)
        rows += float((piece.column("steps") * share[piece.at]).sum())
    return np.unique(np.concatenate(found), axis=0), round(rows)


def cells_of_stretches(wanted: OverviewRequest, pieces: Sequence[StretchRows], spans: Int64Array) -> OverviewCells:
    """Return a column for each of some stretches."""
    number = wanted.number
    place = {(first, last): i for i, (first, last) in enumerate(spans.tolist())}
    grids = {name: Extremes(*(wanted.nothing(len(spans)) for _ in range(3))) for name in wanted.statistics}
    there = np.zeros((len(number), len(spans)), bool)
    for piece in pieces:
        pairs = zip(piece.first.tolist(), piece.last.tolist(), strict=True)
        at = np.array([place.get(pair, -1) for pair in pairs], np.int64)[piece.at]
        rows, own = owned_rows(piece, wanted.owners, number)
        rows, own = rows[at[rows] >= 0], own[at[rows] >= 0]
        there[own, at[rows]] = True
        for name, grid in grids.items():
            for cells, which in zip(grid, ("min", "max", "last"), strict=True):
                with np.errstate(over="ignore"):  # what no float32 holds is shown as infinite
                    cells[own, at[rows]] = piece.take(f"{name}_{which}", rows)
    return OverviewCells(spans[:, 0].copy(), int(spans[:, 1].max()) + 1 if len(spans) else 0, grids, there)


def cells_of_steps(wanted: OverviewRequest, raw: RawStatistics, start: int, stop: int) -> OverviewCells:
    """Return a column for each recorded step with `start <= step < stop`."""
    workers = sorted(set(wanted.owners.values()))
    parts = [part for worker in workers for part in _parts_of_worker(wanted, raw, worker, (start, stop))]
    steps = np.unique(np.concatenate([np.empty(0, np.int64), *(own for own, _, _ in parts)]))
    cells = [wanted.nothing(len(steps)) for _ in wanted.statistics]
    there = np.zeros((len(wanted.tensors), len(steps)), bool)
    for own, rows, values in parts:
        at = np.searchsorted(steps, own)[:, None]
        there[rows, at] = True
        for cell, value in zip(cells, values, strict=True):
            cell[rows, at] = value
    grids = {name: Extremes(cell, cell, cell) for name, cell in zip(wanted.statistics, cells, strict=True)}
    return OverviewCells(steps, int(steps[-1]) + 1 if len(steps) else 0, grids, there)


def _parts_of_worker(
    wanted: OverviewRequest, raw: RawStatistics, worker: str, window: tuple[int, int]
) -> list[tuple[Int64Array, IndexArray, list[Array]]]:
    """Return steps, tensors and numbers of one worker, piece by piece as they lie in the files."""
    own = {name: i for name, i in wanted.number.items() if wanted.owners[name] == worker}
    found, known = [], dict[tuple[str, ...], tuple[IndexArray, IndexArray]]()
    for chunk in raw.chunks(worker, *window) if own else ():
        if chunk.names not in known:
            pairs = [(i, own[name]) for i, name in enumerate(chunk.names) if name in own]
            table = np.array(pairs, np.intp).reshape(-1, 2)
            known[chunk.names] = table[:, 0], table[:, 1]
        places, rows = known[chunk.names]
        with np.errstate(over="ignore"):
            # Copies of what is wanted: the bytes of the files are let go piece by piece.
            values = [chunk.column(name)[:, places].astype(wanted.kind) for name in wanted.statistics]
        found.append((chunk.steps.copy(), rows, values))
    return found
