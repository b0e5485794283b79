"""The totals of what registered losses returned, by mode: of runs that saved no loss as a number of its own.

A loss with `reduction="none"` is a tensor, and of tensors runs keep statistics: its value at a step is its mean, and a
step at which any of it was not finite has none. Most of that is found in the coarse copy of the statistics. Where a
stretch there holds steps of several modes, or values that are not finite, its own statistics are read, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, Float64Array, Int64Array
from cutaway.run.identity import Run
from cutaway.run.tables import Attempt, Damage
from cutaway.trial.collections_file import collections_of
from cutaway.trial.series_totals import Key, Outline, SeriesTotals, totals_of
from cutaway.trial.step_modes import StepModes
from cutaway.trial.stretches import Stretches, StretchRows, owned_rows, owners_of

__all__ = ["LossTotals", "loss_values"]


class _LossPoints(NamedTuple):
    """The values of one loss at single steps, ascending."""

    steps: Int64Array
    values: Float64Array

    def at(self, chosen: BoolArray) -> _LossPoints:
        return _LossPoints(self.steps[chosen], self.values[chosen])


class _LossCells(NamedTuple):
    """One loss in each stretch: where the stretch begins and ends, and what it tells of the loss."""

    first: Int64Array
    last: Int64Array
    own_first: Int64Array
    own_last: Int64Array
    steps: Int64Array
    mean_min: Float64Array
    mean_max: Float64Array
    mean_last: Float64Array
    nonfinite_min: Array
    nonfinite_max: Array

    @property
    def bad(self) -> BoolArray:
        """Whether no step of a stretch has a value."""
        none: BoolArray = self.nonfinite_min > 0
        return none

    @property
    def good(self) -> BoolArray:
        """Whether every step of a stretch has a value."""
        finite = np.isfinite(self.mean_min) & np.isfinite(self.mean_max) & np.isfinite(self.mean_last)
        every: BoolArray = finite & (self.nonfinite_max == 0)
        return every


def loss_values(mean: Float64Array, nonfinite: Array) -> Float64Array:
    """Return the values of a loss at some steps from its statistics there."""
    return np.where(nonfinite > 0, np.nan, mean)


class LossTotals:
    """The losses of one run by name and mode, kept up to date. Belongs to one thread."""

    def __init__(self, run: Run, stretches: Stretches | None = None) -> None:
        self._run = run
        self._stretches = stretches or Stretches(run)
        self._modes = StepModes()
        self._known: tuple[list[Attempt], list[str]] = ([], [])
        self._read: dict[tuple[str, int, int], dict[str, _LossPoints]] = {}
        self.series: dict[Key, SeriesTotals] = {}
        self.outlines: dict[Key, Outline] = {}

    @property
    def damage(self) -> list[Damage]:
        """What could not be read so far."""
        return self._stretches.damage

    def poll(self) -> None:
        """Take in what has been written since the last time."""
        # The steps first: of those that are listed all statistics have been written.
        self._modes.poll(self._run)
        pieces = self._stretches.read()
        owners = owners_of(pieces)
        losses = collections_of(self._run).get("losses")
        names = [name for name in owners if losses.matches(name)]
        known = list(self._run.attempts()), names
        if known != self._known:
            self._known, self._read = known, {}
        self.series, self.outlines = {}, {}
        for name in names:
            cells = _cells_of(pieces, owners, name)
            told = self._is_told(cells)
            points = [self._points(owners[name], *span, names)[name] for span in _spans(cells, ~told)]
            self._add(name, cells, told, points)

    def _is_told(self, cells: _LossCells) -> BoolArray:
        """Whether a stretch tells all that is needed of it."""
        told: BoolArray = (cells.good | cells.bad) & (cells.own_last <= self._modes.last)
        told &= self._modes.is_one(cells.own_first, cells.own_last)
        # One that has steps of training and of evaluation has a row of each.
        _, which, rows = np.unique(np.stack([cells.first, cells.last]), axis=1, return_inverse=True, return_counts=True)
        told &= rows[which.ravel()] == 1
        # None tells its first value: that of each mode is looked up.
        modes = self._modes.of(cells.own_first)
        for code in np.unique(modes[told]).tolist():
            mine = np.flatnonzero(told & (modes == code))
            told[mine[np.argmin(cells.own_first[mine])]] = False
        return told

    def _points(self, worker: str, first: int, last: int, names: Sequence[str]) -> Mapping[str, _LossPoints]:
        """Return the values of all losses at the listed steps of a stretch."""
        known = self._read.get((worker, first, last))
        if known is not None:
            return known
        parts: dict[str, list[_LossPoints]] = {name: [] for name in names}
        for chunk in self._stretches.raw.chunks(worker, first, min(last, self._modes.last) + 1):
            mean, nonfinite = chunk.column("mean"), chunk.column("nonfinite")
            for place, name in enumerate(chunk.names):
                if name in parts:
                    values = loss_values(mean[:, place].astype(np.float64), nonfinite[:, place])
                    parts[name].append(_LossPoints(chunk.steps, values))
        found = {name: _joined(own) for name, own in parts.items()}
        if last <= self._modes.last:
            self._read[worker, first, last] = found
        return found

    def _add(self, name: str, cells: _LossCells, told: BoolArray, points: Sequence[_LossPoints]) -> None:
        """Take in one loss: stretches that tell all of themselves as a whole, the others step by step."""
        found: dict[int, list[SeriesTotals]] = {}
        drawn: dict[int, list[_LossPoints]] = {}
        for code, mine in _by_mode(np.where(told, self._modes.of(cells.own_first), -1)):
            found[code] = [_totals_of_cells(cells, mine)]
            drawn[code] = [_LossPoints(cells.own_last[mine], np.where(cells.bad, np.nan, cells.mean_last)[mine])]
        # A line through the last value of each stretch is one of even steps.
        few = not told.any()
        for one in points:
            for code, mine in _by_mode(self._modes.of(one.steps)):
                part = one.at(mine)
                found.setdefault(code, []).append(totals_of(*part))
                drawn.setdefault(code, []).append(part if few else _LossPoints(part.steps[-1:], part.values[-1:]))
        for code, totals in found.items():
            key = name, self._modes.names[code]
            self.series[key] = reduce(SeriesTotals.joined, totals)
            self.outlines[key] = Outline()
            self.outlines[key].add(_joined(drawn[code]).values)


def _cells_of(pieces: Sequence[StretchRows], owners: Mapping[str, str], name: str) -> _LossCells:
    parts = []
    for piece in pieces:
        if name not in piece.names:
            continue
        rows, _ = owned_rows(piece, owners, {name: 0})
        at = piece.at[rows]
        own = (piece.take(column, rows) for column in _LossCells._fields[2:])
        parts.append((piece.first[at], piece.last[at], *own))
    return _LossCells(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _spans(cells: _LossCells, chosen: BoolArray) -> list[tuple[int, int]]:
    return sorted(set(zip(cells.first[chosen].tolist(), cells.last[chosen].tolist(), strict=True)))


def _totals_of_cells(cells: _LossCells, mine: BoolArray) -> SeriesTotals:
    newest = int(np.argmax(np.where(mine, cells.own_last, -1)))
    good, bad = mine & cells.good, mine & cells.bad
    return SeriesTotals(
        count=int(cells.steps[mine].sum()),
        nonfinite=int(cells.steps[bad].sum()),
        first=float("nan"),  # a stretch before these, which was read, has it
        first_step=int(cells.own_first[mine].min()),
        last=float("nan") if bad[newest] else float(cells.mean_last[newest]),
        last_step=int(cells.own_last[newest]),
        min=float(cells.mean_min[good].min()) if good.any() else None,
        max=float(cells.mean_max[good].max()) if good.any() else None,
    )


def _by_mode(codes: Int64Array) -> Iterator[tuple[int, BoolArray]]:
    """Yield each mode that is known, and what is of it."""
    for code in np.unique(codes[codes >= 0]).tolist():
        yield code, codes == code


def _joined(parts: Sequence[_LossPoints]) -> _LossPoints:
    if not parts:
        return _LossPoints(np.empty(0, np.int64), np.empty(0))
    steps, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(steps, kind="stable")
    return _LossPoints(steps[order], values[order])
