"""Statistics of many tensors over many steps as matrices: what rules look at.

Knows neither files nor rules. Whoever holds statistics keeps them as chunks, and picks blocks out of these.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, IndexArray, Int64Array
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS

__all__ = ["Activity", "Chunks", "Shares", "StatisticsBlock", "StatisticsChunk", "columns_of_one"]

# The share of positive values per channel: at one step, and at several.
Shares = Sequence[float] | Float32Array
Activity = Float32Array | Sequence[Shares | None]


@dataclass(frozen=True)
class StatisticsChunk:
    """Some steps, ascending, that have statistics of the same tensors.

    `column` returns one statistic with a row per step and a column per tensor; `active` the share of positive values
    per channel of one tensor (by its place) at each step, None where it was not asked; a matrix where that holds all.
    `of_values` says that nobody recorded these: they were computed from the tensors, which were saved in full.
    """

    names: tuple[str, ...]
    steps: Int64Array
    column: Callable[[str], Array]
    active: Callable[[int], Activity]
    of_values: bool = False

    @property
    def first(self) -> int:
        """The first of its steps."""
        return int(self.steps[0])


class _Piece(NamedTuple):
    """Some steps of a chunk."""

    chunk: StatisticsChunk
    rows: IndexArray


class StatisticsBlock:
    """Statistics of some tensors at the same steps, dense: a row per tensor, a column per step.

    `block["l2"]` is such a matrix; the names are those of the run's statistics table (size, nonfinite, zeros, min, max,
    mean, std, l1, l2, abs_min, change). The first `fresh` steps lie before the window that was asked for: they are what
    the window is compared with. `recorded` says of each step whether its statistics were recorded, or computed from
    what was saved in full.
    """

    def __init__(self, names: Sequence[str], pieces: Sequence[_Piece], skipped: int, fresh: int) -> None:
        self.names = tuple(names)
        self.fresh = fresh
        self._pieces = pieces = _ascending(pieces)
        self._skipped = skipped
        self._columns: dict[str, Float64Array] = {}
        self._places = [self._columns_of(piece.chunk) for piece in pieces]
        self.steps: Int64Array = np.concatenate([piece.chunk.steps[piece.rows] for piece in pieces])[skipped:]
        kinds = [np.full(len(piece.rows), not piece.chunk.of_values) for piece in pieces]
        self._recorded: BoolArray = np.concatenate(kinds)
        self.recorded: BoolArray = self._recorded[skipped:]

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, column: str) -> Float64Array:
        found = self._columns.get(column)
        if found is None:
            parts = [
                piece.chunk.column(column)[piece.rows[:, None], places]
                for piece, places in zip(self._pieces, self._places, strict=True)
            ]
            joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
            found = np.ascontiguousarray(joined[self._skipped :].T, dtype=np.float64)
            if column == "change":
                found[:, self._follows_another_kind()] = np.nan
            found.flags.writeable = False  # the next rule looks at the same matrix
            self._columns[column] = found
        return found

    @property
    def finite(self) -> Float64Array:
        """How many values of each tensor are finite; all other statistics are over these."""
        return self["size"] - self["nonfinite"]

    @property
    def mean_abs(self) -> Float64Array:
        """The mean of the absolute values; NaN where none is finite."""
        return _ratio(self["l1"], self.finite)

    @property
    def zero_share(self) -> Float64Array:
        """The share of values that are zero; NaN for an empty tensor."""
        return _ratio(self["zeros"], self["size"])

    def active(self, name: str) -> Float64Array | None:
        """Return the share of positive values per channel: a row per step, a column per channel.

        None where it was not recorded at all these steps with the same number of channels.
        """
        parts = [_uniform(own, rows) for own, rows in self._activity(name)]
        kept = [part for part in parts if part is not None]
        if len(kept) != len(parts) or len({part.shape[1] for part in kept}) != 1:
            return None
        return np.concatenate(kept)

    def active_rows(self, name: str) -> list[Shares | None]:
        """Return the share of positive values per channel at each step; None at steps where it was not recorded."""
        return [own[row] for own, rows in self._activity(name) for row in rows]

    def _activity(self, name: str) -> Iterator[tuple[Activity, IndexArray]]:
        """Yield the activity of whole chunks, and which of their steps are meant."""
        skipped = self._skipped
        for piece in self._pieces:
            rows = piece.rows[skipped:]
            skipped -= len(piece.rows) - len(rows)
            if len(rows):
                yield piece.chunk.active(piece.chunk.names.index(name)), rows

    def _follows_another_kind(self) -> BoolArray:
        """Return the steps whose change is not one since the step before: that was not recorded, or was not saved."""
        follows = np.zeros(len(self._recorded), bool)
        follows[1:] = self._recorded[1:] != self._recorded[:-1]
        return follows[self._skipped :]

    def _columns_of(self, chunk: StatisticsChunk) -> IndexArray:
        place = {name: i for i, name in enumerate(chunk.names)}
        return np.array([place[name] for name in self.names], np.intp)


def columns_of_one(blocks: Sequence[StatisticsBlock]) -> dict[str, Array]:
    """Return the columns of the one tensor that was asked for, ascending in `step`; empty ones where it has no rows."""
    if not blocks:
        return {"step": np.empty(0, np.int64), **{name: np.empty(0) for name in STATISTIC_COLUMNS}}
    return {"step": blocks[0].steps.copy(), **{name: blocks[0][name][0].copy() for name in STATISTIC_COLUMNS}}


class Chunks:
    """The chunks of one writer, ascending in their first step.

    Those that were recorded hardly ever overlap; those of values may lie between the steps of another.
    """

    def __init__(self, chunks: Iterable[StatisticsChunk] = ()) -> None:
        self._chunks: list[StatisticsChunk] = []
        self._firsts: list[int] = []
        self._reach: list[int] = []  # the last step of a chunk and of all before it
        self._of_values: set[str] = set()
        for chunk in chunks:
            self.add(chunk)

    def add(self, chunk: StatisticsChunk) -> None:
        """Take in a chunk; most often the newest."""
        place = bisect_right(self._firsts, chunk.first)
        self._chunks.insert(place, chunk)
        self._firsts.insert(place, chunk.first)
        self._measure_from(place)
        if chunk.of_values:
            self._of_values.update(chunk.names)

    def drop_before(self, step: int) -> None:
        """Forget the chunks that end before a step."""
        self._chunks = [chunk for chunk in self._chunks if chunk.steps[-1] >= step]
        self._firsts = [chunk.first for chunk in self._chunks]
        self._measure_from(0)

    def names(self) -> set[str]:
        """Return the tensors that have any statistics."""
        return {name for names in {chunk.names for chunk in self._chunks} for name in names}

    def holding(self, step: int) -> list[StatisticsChunk]:
        """Return the chunks that hold a step."""
        near = self._chunks[bisect_left(self._reach, step) : bisect_right(self._firsts, step)]
        return [chunk for chunk in near if _holds(chunk, step)]

    def blocks(
        self,
        names: Collection[str],
        start: int,
        stop: int,
        before: int = 0,
        in_mode: Callable[[Int64Array], BoolArray] | None = None,
    ) -> list[StatisticsBlock]:
        """Return dense blocks that together hold every statistic of some tensors for `start <= step < stop`.

        Each tensor stands in one block, with up to `before` of its steps before `start`. `in_mode` says which steps
        count.
        """
        wanted = frozenset(names)
        # Where both kinds are, the step before a window tells whether the change at its first one is known.
        looks_back = before > 0 or not self._of_values.isdisjoint(wanted)
        inside = self._pieces_within(start, stop, in_mode)
        of_names: dict[str, list[_Piece]] = {}
        for piece in inside:
            for name in piece.chunk.names:
                if name in wanted:
                    of_names.setdefault(name, []).append(piece)
        groups: dict[tuple[int, ...], list[str]] = {}
        for name, pieces in of_names.items():
            groups.setdefault(tuple(map(id, pieces)), []).append(name)
        found = []
        for group in groups.values():
            pieces = of_names[group[0]]
            if looks_back:
                found += self._with_earlier(group, pieces, start, before, in_mode)
            else:
                found.append(StatisticsBlock(group, pieces, 0, 0))
        return found

    def _pieces_within(self, start: int, stop: int, in_mode: Callable[[Int64Array], BoolArray] | None) -> list[_Piece]:
        # A chunk that begins before the window may reach into it.
        first, last = bisect_left(self._reach, start), bisect_right(self._firsts, stop - 1)
        pieces = (_piece(chunk, start, stop, in_mode) for chunk in self._chunks[first:last])
        return [piece for piece in pieces if len(piece.rows)]

    def _with_earlier(
        self,
        group: list[str],
        pieces: list[_Piece],
        start: int,
        before: int,
        in_mode: Callable[[Int64Array], BoolArray] | None,
    ) -> list[StatisticsBlock]:
        """Put earlier steps in front; tensors that differ in these are parted."""
        earlier: dict[tuple[int, ...], tuple[list[str], list[_Piece], int]] = {}
        for name, own in self._earlier(group, start, max(before, 1), in_mode).items():
            key = tuple(id(piece.chunk) for piece in own)
            earlier.setdefault(key, ([], own, sum(len(piece.rows) for piece in own)))[0].append(name)
        return [
            StatisticsBlock(names, [*own, *pieces], max(count - before, 0), min(count, before))
            for names, own, count in earlier.values()
        ]

    def _earlier(
        self, group: list[str], start: int, before: int, in_mode: Callable[[Int64Array], BoolArray] | None
    ) -> dict[str, list[_Piece]]:
        """Return for each tensor the pieces that hold its last `before` steps before `start`, oldest first."""
        missing = set(group)
        found: dict[str, list[_Piece]] = {name: [] for name in group}
        for place in range(bisect_right(self._firsts, start - 1) - 1, -1, -1):
            chunk = self._chunks[place]
            here = [name for name in chunk.names if name in missing]
            piece = _piece(chunk, -1, start, in_mode) if here else None
            if piece is None or not len(piece.rows):
                continue
            # What all the chunks before this one reach; steps after it are the tensor's last for good.
            reach = self._reach[place - 1] if place else -1
            after: dict[int, int] = {}
            for name in here:
                found[name].insert(0, piece)
                for own in found[name]:
                    if id(own) not in after:
                        after[id(own)] = _count_after(own, reach)
                if sum(after[id(own)] for own in found[name]) >= before:
                    missing.discard(name)
            if not missing:
                break
        return found

    def _measure_from(self, place: int) -> None:
        """Work out anew how far the chunks reach, from one of them on."""
        del self._reach[place:]
        reach = self._reach[-1] if self._reach else -1
        for chunk in self._chunks[place:]:
            reach = max(reach, int(chunk.steps[-1]))
            self._reach.append(reach)


def _ascending(pieces: Sequence[_Piece]) -> Sequence[_Piece]:
    """Divide pieces that overlap, so that the steps ascend from one to the next."""
    if all(one.chunk.steps[one.rows[-1]] < two.chunk.steps[two.rows[0]] for one, two in pairwise(pieces)):
        return pieces
    owners = np.repeat(np.arange(len(pieces)), [len(piece.rows) for piece in pieces])
    rows = np.concatenate([piece.rows for piece in pieces])
    order = np.argsort(np.concatenate([piece.chunk.steps[piece.rows] for piece in pieces]), kind="stable")
    cuts = np.flatnonzero(np.diff(owners[order])) + 1
    parts = np.split(order, cuts)
    return [_Piece(pieces[owners[part[0]]].chunk, rows[part]) for part in parts]


def _holds(chunk: StatisticsChunk, step: int) -> bool:
    place = int(np.searchsorted(chunk.steps, step))
    return place < len(chunk.steps) and int(chunk.steps[place]) == step


def _count_after(piece: _Piece, step: int) -> int:
    """Return how many rows of a piece lie after a step."""
    return len(piece.rows) - int(np.searchsorted(piece.chunk.steps[piece.rows], step, side="right"))


def _piece(chunk: StatisticsChunk, start: int, stop: int, in_mode: Callable[[Int64Array], BoolArray] | None) -> _Piece:
    kept = (chunk.steps >= start) & (chunk.steps < stop)
    if in_mode is not None:
        kept &= in_mode(chunk.steps)
    return _Piece(chunk, np.flatnonzero(kept))


def _uniform(activity: Activity, rows: IndexArray) -> Float64Array | None:
    """Return some rows as a matrix; None where one is missing or has another number of channels."""
    if isinstance(activity, np.ndarray):
        return activity[rows].astype(np.float64)
    kept = [activity[row] for row in rows]
    if any(row is None for row in kept) or len({len(row) for row in kept if row is not None}) != 1:
        return None
    return np.array(kept, np.float64)


def _ratio(part: Float64Array, whole: Float64Array) -> Float64Array:
    """Divide; NaN where there is nothing to divide by."""
    found: Float64Array = np.full(whole.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
