"""Statistics of stretches of steps: the least, the greatest and the last of each statistic of each tensor.

Arithmetic only: knows neither files nor threads. NaN stands for no value: it is never the least or the greatest where
there is another, and it is the last where the last step had none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, IndexArray, Int64Array
from cutaway.tensors.statistic_names import COUNTS, FLOATS

__all__ = ["STRETCH", "Extremes", "OpenStretch", "OpenStretches", "Places", "Stretch", "merge_neighbours"]

# How many recorded steps a stretch holds.
STRETCH = 64

Places = slice | IndexArray
_WHICH = ("min", "max", "last")
_INT64 = np.iinfo(np.int64)


class Extremes(NamedTuple):
    """The least, the greatest and the last of some statistics: a row per statistic, a column per tensor.

    Of one statistic over several stretches: a row per tensor, a column per stretch, NaN where there is nothing.
    """

    least: Array
    greatest: Array
    last: Array


class Stretch(NamedTuple):
    """Some successive recorded steps, taken together; each array has an entry, or a column, per tensor."""

    names: tuple[str, ...]
    first: int
    last: int
    steps: Int64Array  # how many of them recorded the tensor,
    own_first: Int64Array  # the first of these,
    own_last: Int64Array  # and the last
    size: Int64Array
    counts: Extremes  # of COUNTS
    floats: Extremes  # of FLOATS
    evaluation: bool = False  # whether these are steps at which the model was evaluated, and not trained

    def column(self, name: str) -> Array:
        """Return one of the numbers above, or the `<statistic>_min`, `_max` or `_last` of each tensor."""
        if name == "evaluation":
            return np.full(len(self.names), int(self.evaluation))
        statistic, _, which = name.rpartition("_")
        for names, extremes in ((COUNTS, self.counts), (FLOATS, self.floats)):
            if statistic in names and which in _WHICH:
                found: Array = extremes[_WHICH.index(which)][names.index(statistic)]
                return found
        own: Array = getattr(self, name)
        return own


class OpenStretch:
    """A stretch that grows by successive steps. Tensors keep their places from one stretch to the next."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._clear()

    def _clear(self) -> None:
        self.taken = 0  # recorded steps so far
        self._first = self._last = -1
        self._own = _own_columns(len(self._known))
        self._counts, self._floats = _no_counts(len(self._known)), _no_floats(len(self._known))

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last step so far."""
        return self._first, self._last

    def places(self, names: Sequence[str]) -> Places:
        """Return where some tensors stand, for `add`; valid until `close` says otherwise."""
        known = self._known
        found = [known.setdefault(name, len(known)) for name in names]
        grown = len(known) - self._own.shape[1]
        if grown:
            self._own = np.concatenate([self._own, _own_columns(grown)], axis=1)
            self._counts = _beside(self._counts, _no_counts(grown))
            self._floats = _beside(self._floats, _no_floats(grown))
        start = found[0] if found else 0
        in_a_row = found == list(range(start, start + len(found)))
        # A slice is a view: nothing is copied to and fro.
        return slice(start, start + len(found)) if in_a_row else np.array(found, np.intp)

    def add(self, places: Places, steps: Sequence[int], whole: Array, floats: Array) -> None:
        """Take in steps that recorded the same tensors: arrays of statistic x step x tensor.

        `whole` holds size, nonfinite and zeros; `floats` what FLOATS names. A step that comes twice counts once.
        """
        self.taken += len(steps) - (steps[0] == self._last)
        self._first = steps[0] if self._first < 0 else self._first
        self._last = steps[-1]
        own = self._own
        own[0, places] += len(steps)
        own[1, places] = np.minimum(own[1, places], steps[0])
        own[2, places] = steps[-1]
        own[3, places] = whole[0, -1]
        _take_extremes(self._counts, places, whole[1:], np.minimum, np.maximum)
        _take_extremes(self._floats, places, floats, np.fmin, np.fmax)

    def close(self) -> tuple[Stretch | None, bool]:
        """Return what came so far and begin anew; and whether all places are still valid.

        A tensor that no step of this stretch had loses its place, so that names that never come again cost nothing.
        """
        if not self.taken:
            return None, True
        names, own, counts, floats = tuple(self._known), self._own, self._counts, self._floats
        there = own[0] > 0
        kept = bool(there.all())
        if not kept:
            names = tuple(name for name, here in zip(names, there.tolist(), strict=True) if here)
            own = own[:, there]
            counts, floats = (Extremes(*(part[:, there] for part in one)) for one in (counts, floats))
            self._known = {}
        stretch = Stretch(names, self._first, self._last, own[0], own[1], own[2], own[3], counts, floats)
        self._clear()
        return stretch, kept


class OpenStretches:
    """A stretch of training and one of evaluation that begin and end together: what a model does while it is
    evaluated is no part of how it trains."""

    def __init__(self) -> None:
        self._training, self._evaluation = OpenStretch(), OpenStretch()

    def of(self, *, evaluation: bool) -> OpenStretch:
        """Return the one of evaluation, or the one of training."""
        return self._evaluation if evaluation else self._training

    @property
    def missing(self) -> int:
        """How many steps both together still take."""
        return STRETCH - self._training.taken - self._evaluation.taken

    def close(self) -> tuple[list[Stretch], bool]:
        """Return what came so far and begin anew; and whether all places of both are still valid."""
        spans = [one.span for one in (self._training, self._evaluation) if one.taken]
        stretches, places_hold = list[Stretch](), True
        for evaluation in (False, True):
            stretch, hold = self.of(evaluation=evaluation).close()
            places_hold = places_hold and hold
            if stretch is not None:
                first, last = min(first for first, _ in spans), max(last for _, last in spans)
                stretches.append(stretch._replace(first=first, last=last, evaluation=evaluation))
        return stretches, places_hold


def merge_neighbours(given: Extremes, there: BoolArray, each: int) -> Extremes:
    """Merge every `each` neighbouring stretches of one statistic. `there` says which tensors a stretch has at all."""
    least, greatest, last = given
    if each == 1 or not least.size:
        return given
    starts = np.arange(0, least.shape[1], each)
    # The last of those that have the tensor: one without it must not hide what came before.
    newest = np.maximum.reduceat(np.where(there, np.arange(least.shape[1]), -1), starts, axis=1)
    found = np.take_along_axis(last, np.maximum(newest, 0), axis=1)
    return Extremes(
        np.fmin.reduceat(least, starts, axis=1),
        np.fmax.reduceat(greatest, starts, axis=1),
        np.where(newest < 0, found.dtype.type(np.nan), found),
    )


def _take_extremes(kept: Extremes, places: Places, values: Array, lesser: np.ufunc, greater: np.ufunc) -> None:
    one = values.shape[1] == 1
    kept.least[:, places] = lesser(kept.least[:, places], values[:, 0] if one else lesser.reduce(values, 1))
    kept.greatest[:, places] = greater(kept.greatest[:, places], values[:, 0] if one else greater.reduce(values, 1))
    kept.last[:, places] = values[:, -1]


def _own_columns(count: int) -> Int64Array:
    """Steps, first step, last step and size of tensors that have not come yet."""
    return np.repeat(np.array([[0], [_INT64.max], [-1], [0]], np.int64), count, axis=1)


def _no_counts(count: int) -> Extremes:
    shape = (len(COUNTS), count)
    return Extremes(np.full(shape, _INT64.max), np.full(shape, _INT64.min), np.zeros(shape, np.int64))


def _no_floats(count: int) -> Extremes:
    return Extremes(*(np.full((len(FLOATS), count), np.nan) for _ in range(3)))


def _beside(one: Extremes, other: Extremes) -> Extremes:
    return Extremes(*(np.concatenate(pair, axis=1) for pair in zip(one, other, strict=True)))
