"""Statistics of some tensors as grids of tensor x stretch: from stretches of steps, or from single steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, IndexArray, Int64Array
from cutaway.tensors.coarse import Extremes, merge_neighbours
from cutaway.trial.evaluation_steps import EvaluationSteps
from cutaway.trial.raw_statistics import RawStatistics
from cutaway.trial.stretches import StretchRows, owned_rows

__all__ = ["OverviewCells", "OverviewRequest", "cells_of_steps", "cells_of_stretches", "spans_within"]


class OverviewRequest(NamedTuple):
    """Which statistics of which tensors, and whose of several workers; as which kind of numbers.

    Where `evaluated` is given, the steps that train are shown of each tensor, and of those that are in it the steps
    that evaluate; where it is None, all steps.
    """

    statistics: tuple[str, ...]
    tensors: Sequence[str]
    owners: Mapping[str, str]
    evaluated: frozenset[str] | None
    kind: type[np.floating[Any]]

    @property
    def number(self) -> dict[str, int]:
        """The place of each tensor."""
        return {name: i for i, name in enumerate(self.tensors)}

    def shows(self, tensor: str, *, evaluation: bool) -> bool:
        """Whether the steps of a tensor that evaluate are shown, or those that train."""
        return self.evaluated is None or (tensor in self.evaluated) == evaluation

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
    """Return a column for each of some stretches that recorded any of the tensors."""
    number = wanted.number
    shows = [np.array([wanted.shows(name, evaluation=kind) for name in wanted.tensors], bool) for kind in (False, True)]
    place = {(first, last): i for i, (first, last) in enumerate(spans.tolist())}
    grids = {name: Extremes(*(wanted.nothing(len(spans)) for _ in range(3))) for name in wanted.statistics}
    newest = np.full((len(number), len(spans)), -1)  # the last step that was taken in
    for piece in pieces:
        pairs = zip(piece.first.tolist(), piece.last.tolist(), strict=True)
        at = np.array([place.get(pair, -1) for pair in pairs], np.int64)[piece.at]
        rows, own = owned_rows(piece, wanted.owners, number)
        # One after the other: a tensor that both recorded has two rows of the stretch.
        for kind, mine in enumerate(shows):
            shown = (at[rows] >= 0) & (piece.evaluation[rows] == bool(kind)) & mine[own]
            if shown.any():
                _take_in(grids, newest, piece, rows[shown], (own[shown], at[rows[shown]]))
    there = newest >= 0
    seen = there.any(axis=0)
    shown_grids = {name: Extremes(*(cells[:, seen] for cells in grid)) for name, grid in grids.items()}
    end = int(spans[seen, 1].max()) + 1 if seen.any() else 0
    return OverviewCells(spans[seen, 0], end, shown_grids, there[:, seen])


def _take_in(
    grids: Mapping[str, Extremes],
    newest: Int64Array,
    piece: StretchRows,
    rows: Int64Array,
    cells: tuple[Int64Array, IndexArray],
) -> None:
    """Merge some rows of stretches into the cells that they belong to."""
    ended = piece.take("own_last", rows)
    later = ended > newest[cells]
    newest[cells] = np.maximum(newest[cells], ended)
    for name, grid in grids.items():
        with np.errstate(over="ignore"):  # what no float32 holds is shown as infinite
            least, greatest, last = (
                piece.take(f"{name}_{which}", rows).astype(grid.last.dtype) for which in ("min", "max", "last")
            )
        grid.least[cells] = np.fmin(grid.least[cells], least)
        grid.greatest[cells] = np.fmax(grid.greatest[cells], greatest)
        grid.last[cells] = np.where(later, last, grid.last[cells])


def cells_of_steps(
    wanted: OverviewRequest, raw: RawStatistics, evaluations: EvaluationSteps, start: int, stop: int
) -> OverviewCells:
    """Return a column for each step with `start <= step < stop` that recorded any of the tensors."""
    workers = sorted(set(wanted.owners.values()))
    parts = [part for worker in workers for part in _parts_of_worker(wanted, raw, evaluations, worker, (start, stop))]
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
    wanted: OverviewRequest, raw: RawStatistics, evaluations: EvaluationSteps, worker: str, window: tuple[int, int]
) -> list[tuple[Int64Array, IndexArray, list[Array]]]:
    """Return steps, tensors and numbers of one worker, piece by piece as they lie in the files."""
    own = {name: i for name, i in wanted.number.items() if wanted.owners[name] == worker}
    found, known = [], dict[tuple[tuple[str, ...], bool], tuple[IndexArray, IndexArray]]()
    for chunk in raw.chunks(worker, *window) if own else ():
        evaluated = evaluations.among(chunk.steps)
        for evaluation in (False, True):
            at = np.flatnonzero(evaluated == evaluation)
            if not len(at):
                continue
            if (chunk.names, evaluation) not in known:
                mine = [(i, name) for i, name in enumerate(chunk.names) if wanted.shows(name, evaluation=evaluation)]
                table = np.array([(i, own[name]) for i, name in mine if name in own], np.intp).reshape(-1, 2)
                known[chunk.names, evaluation] = table[:, 0], table[:, 1]
            places, rows = known[chunk.names, evaluation]
            if not len(places):
                continue
            with np.errstate(over="ignore"):
                # Copies of what is wanted: the bytes of the files are let go piece by piece.
                values = [chunk.column(name)[at][:, places].astype(wanted.kind) for name in wanted.statistics]
            found.append((chunk.steps[at], rows, values))
    return found
