"""One statistic of all tensors over all steps, one tensor's series, and the tensors of a run: without every row.

Reads the coarse copy of the statistics; where few enough rows are meant the statistics themselves, so that who zooms in
sees every step. Never writes, and needs no writer. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, Float32Array, Int64Array
from cutaway.errors import ConfigurationError, TensorUnavailable, did_you_mean
from cutaway.run.identity import Run
from cutaway.run.tables import Damage
from cutaway.tensors.coarse import STRETCH, Extremes
from cutaway.tensors.statistic_names import STATISTIC_NAMES
from cutaway.trial.model_order import ModelOrder
from cutaway.trial.overview_cells import (
    OverviewCells,
    OverviewRequest,
    cells_of_steps,
    cells_of_stretches,
    spans_within,
)
from cutaway.trial.stretches import FOREVER, Stretches, StretchRows, evaluated_only, owned_rows, owners_of

__all__ = ["Overview", "OverviewReader", "TensorSeries", "TensorSummary", "summarize"]


# Up to so many rows of statistics (1,000 steps of 2,000 tensors) are read one by one.
MOST_ROWS = 2_000_000


@dataclass(frozen=True)
class Overview:
    """One statistic of some tensors: matrices with a row per tensor and a column per stretch of steps.

    `tensors` come in the order of the model (see `ModelOrder`). `steps` holds the first step of each stretch, and
    at its end the step after the last. `min`, `max` and `last` are those of the statistic within a stretch;
    `nonfinite` is the most values that were NaN or infinite at one step of it. A cell is NaN where the tensor was not
    recorded, or had no finite value. Steps that evaluate the model are left out, unless a tensor was recorded at no
    others: what it does then is no part of its training. `approximate` says in words what a column stands for and where
    it was read; `exact` that each column is one step. `damage` names what could not be read.
    """

    tensors: list[str]
    steps: Int64Array
    last: Float32Array
    min: Float32Array
    max: Float32Array
    nonfinite: Float32Array
    approximate: str
    exact: bool
    damage: tuple[Damage, ...]


@dataclass(frozen=True)
class TensorSeries:
    """All statistics of one tensor over stretches of steps; the fields are those of `Overview`.

    `statistics` has for each statistic its `least`, `greatest` and `last` in each stretch.
    """

    tensor: str
    steps: Int64Array
    statistics: Mapping[str, Extremes]
    approximate: str
    exact: bool
    damage: tuple[Damage, ...]

    @property
    def ends(self) -> Int64Array:
        """The last step of each stretch; where each stretch is one step, that step."""
        return self.steps[:-1] if self.exact else self.steps[1:] - 1


class OverviewReader:
    """Reads overviews of one run again and again: only what is new is read anew. Belongs to one thread at a time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.order = ModelOrder(run)
        self.stretches = Stretches(run)

    def read(
        self,
        *,
        statistic: str,
        tensors: Callable[[str], bool] | None = None,
        first: int | None = None,
        last: int | None = None,
        columns: int = 300,
    ) -> Overview:
        """Return one statistic of the tensors that `tensors` picks, from step `first` to step `last`.

        At most `columns` stretches. Stretches that begin before `first` or end after `last` are shown whole.
        """
        if statistic not in STATISTIC_NAMES:
            near, known = did_you_mean(statistic, STATISTIC_NAMES), ", ".join(STATISTIC_NAMES)
            raise ConfigurationError(f"No statistic {statistic!r}.", hint=f"{near} There are {known}.")
        pieces = self.stretches.read()
        owners = owners_of(pieces)
        names = [name for name in self.order.sorted(list(owners)) if tensors is None or tensors(name)]
        statistics = tuple(dict.fromkeys((statistic, "nonfinite")))
        wanted = OverviewRequest(statistics, names, owners, evaluated_only(pieces), np.float32)
        cells, words, exact = self._read(wanted, pieces, _window(first, last), columns)
        least, greatest, newest = cells.grids[statistic]
        nonfinite = cells.grids["nonfinite"].greatest
        return Overview(names, cells.steps, newest, least, greatest, nonfinite, words, exact, self.damage)

    def series(
        self, tensor: str, *, first: int | None = None, last: int | None = None, columns: int = 1000
    ) -> TensorSeries:
        """Return all statistics of one tensor. Raises `TensorUnavailable` where the run has none of it."""
        pieces = self.stretches.read()
        owners = owners_of(pieces)
        if tensor not in owners:
            raise TensorUnavailable(tensor, self.run.name, sorted(owners))
        wanted = OverviewRequest(STATISTIC_NAMES, [tensor], owners, None, np.float64)
        cells, words, exact = self._read(wanted, pieces, _window(first, last), columns)
        # Steps at which other tensors alone were recorded are none of its own.
        own = cells.there[0]
        grids = {name: Extremes(*(part[0][own] for part in grid)) for name, grid in cells.grids.items()}
        steps = np.append(cells.first[own], cells.end) if own.any() else cells.first[:0]
        return TensorSeries(tensor, steps, grids, words, exact, self.damage)

    def tensors(self) -> list[TensorSummary]:
        """Return every tensor that has statistics, in the order of the model; see `ModelOrder`."""
        found = {one.name: one for one in summarize(self.stretches.read())}
        return [found[name] for name in self.order.sorted(list(found))]

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What could not be read so far."""
        return tuple(self.stretches.damage)

    def _read(
        self, wanted: OverviewRequest, pieces: list[StretchRows], window: tuple[int, int], columns: int
    ) -> tuple[OverviewCells, str, bool]:
        """Return at most so many columns, what they are in words, and whether each is one step."""
        if columns < 1:
            raise ConfigurationError(f"`columns >= 1` must hold, but got {columns=}.")
        spans, rows = spans_within(pieces, *window)
        single = len(spans) < columns and rows <= MOST_ROWS
        if single:
            cells = cells_of_steps(wanted, self.stretches.raw, self.stretches.evaluations, *window)
        else:
            cells = cells_of_stretches(wanted, pieces, spans)
        each = max(-(-len(cells.first) // columns), 1)
        return cells.merged(each), self._words(wanted, each, single=single), single and each == 1

    def _words(self, wanted: OverviewRequest, each: int, *, single: bool) -> str:
        alone = wanted.evaluated
        trained = bool(self.stretches.evaluations) and alone is not None and not alone.issuperset(wanted.tensors)
        kind = "training" if trained else "recorded"
        if single and each == 1:
            return f"Every {kind} step."
        if single:
            return f"Least, greatest and last of every {each} {kind} steps, read from each of them."
        words = f"Least, greatest and last of about every {each * STRETCH} {kind} steps, as kept beside them."
        made = self.stretches.made_steps()
        if made:
            words += f" Of {made:,} steps no such copy is kept, so that each of them was read."
        return words


def _window(first: int | None, last: int | None) -> tuple[int, int]:
    return 0 if first is None else first, FOREVER if last is None else last + 1


class TensorSummary(NamedTuple):
    """A tensor of a run: the steps that recorded it, and its newest statistics (NaN where it has none)."""

    name: str
    first_step: int
    last_step: int
    steps: int
    most_nonfinite: int
    size: int
    last: Mapping[str, float]


def summarize(pieces: Sequence[StretchRows]) -> list[TensorSummary]:
    """Return every tensor once, in the order in which the run first recorded them."""
    owners = owners_of(pieces)
    number = {name: i for i, name in enumerate(owners)}
    count = len(owners)
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    steps, most = np.zeros(count, np.int64), np.zeros(count, np.int64)
    newest = np.full((1 + len(STATISTIC_NAMES), count), np.nan)
    for piece in pieces:
        rows, own = owned_rows(piece, owners, number)
        np.add.at(steps, own, piece.take("steps", rows))
        np.maximum.at(most, own, piece.take("nonfinite_max", rows))
        np.minimum.at(first, own, piece.take("own_first", rows))
        ended = piece.take("own_last", rows)
        chosen, at = _newest(own, ended, last)
        last[at] = ended[chosen]
        for row, column in enumerate(("size", *(f"{name}_last" for name in STATISTIC_NAMES))):
            newest[row, at] = piece.take(column, rows[chosen])
    whole = [column.tolist() for column in (first, last, steps, most, newest[0].astype(np.int64))]
    values = (dict(zip(STATISTIC_NAMES, own, strict=True)) for own in newest[1:].T.tolist())
    return [TensorSummary(*row) for row in zip(owners, *whole, values, strict=True)]


def _newest(own: Array, ended: Array, known: Array) -> tuple[Array, Array]:
    """Return which rows hold the newest step of a tensor, newer than what is known, and the tensors' numbers."""
    order = np.argsort(ended, kind="stable")
    chosen = np.full(len(known), -1)
    chosen[own[order]] = order  # of several rows of a tensor the last one stays
    at = np.flatnonzero(chosen >= 0)
    at = at[ended[chosen[at]] > known[at]]
    return chosen[at], at
