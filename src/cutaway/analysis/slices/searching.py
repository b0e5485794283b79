"""Looks at every box of one or two conditions for those that are worse than expected. Decides nothing about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cutaway.analysis.slices.features import Box, Feature, Part, box_rows
from cutaway.analysis.slices.fitting import Left
from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["MOST_PAIRED", "Candidate", "Searcher", "box_score"]

# Pairs are looked at among so many columns, those that tell most by themselves.
MOST_PAIRED = 40

# What a condition must gain to be worth saying, in nats: by itself, and for having two ends rather than one.
# Without it, chance sets ends where there are none.
CONDITION, SECOND_END = 3.0, 4.0
# A larger share of the samples than this must gain more: several slices side by side are not one.
WIDE, WIDENESS = 0.1, 0.4
# Standard deviations below which a box is as expected.
PLAIN = 1.5


class Candidate(NamedTuple):
    """A box, the score by which it is tested, and what it gains, by which it is chosen; both less what it costs."""

    gain: float
    score: float
    box: Box


NOTHING = Candidate(-np.inf, -np.inf, ())


@dataclass(frozen=True)
class _Line:
    """A feature ready for searching: its bins, and which bins each condition holds, fine and coarse."""

    codes: Int64Array
    bins: int
    fine: Int64Array
    fine_costs: Float64Array
    small: Int64Array
    small_bins: int
    coarse: Int64Array
    coarse_costs: Float64Array
    holds: Float64Array


class _Sizes(NamedTuple):
    """Boxes that hold enough rows and not too many: places among all, rows, costs, and what wide ones keep."""

    places: Int64Array
    rows: Float64Array
    costs: Float64Array
    wide: Float64Array


@dataclass(frozen=True)
class Searcher:
    """Searches the boxes over some features that hold between `fewest` and `largest` rows."""

    features: Sequence[Feature]
    fewest: int
    largest: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.features[0].codes)

    @cached_property
    def _lines(self) -> list[_Line]:
        return [_line(feature) for feature in self.features]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], _Sizes]:
        return {}

    @cached_property
    def _looked_at(self) -> dict[tuple[int, int], int]:
        return {}

    def search(self, left: Left) -> list[Candidate]:
        """Return the best box of each column and of each pair of columns, the best of all first."""
        self._looked_at.clear()
        singles = [self.stretch(place, left) for place in range(len(self.features))]
        gains = np.array([one.gain for one in singles])
        paired = np.sort(np.argsort(-gains, kind="stable")[:MOST_PAIRED])
        pairs = [
            self.pair(int(first), int(second), left)
            for place, first in enumerate(paired)
            for second in paired[place + 1 :]
        ]
        found = [one for one in (*singles, *pairs) if np.isfinite(one.gain)]
        return sorted(found, key=lambda one: -one.gain)

    def boxes(self) -> int:
        """Return how many boxes the last search looked at that hold enough rows and not too many."""
        lines = [self._sized(_sums(one.codes, None, one.bins, one.fine), one.fine_costs) for one in self._lines]
        return sum(len(one.places) for one in lines) + sum(self._looked_at.values())

    def stretch(self, place: int, left: Left, others: Box = ()) -> Candidate:
        """Return the box with the best condition on one column beside some others that stay."""
        line = self._lines[place]
        if not len(line.fine):
            return NOTHING
        rows = box_rows(self.features, others) if others else slice(None)
        codes = line.codes[rows]
        signal, variance, skew = (
            _sums(codes, one[rows], line.bins, line.fine) for one in (left.signal, left.variance, left.skew)
        )
        costs = line.fine_costs + sum(_cost(self.features[one[0]], one) for one in others)
        sizes = self._sized(_sums(codes, None, line.bins, line.fine), costs)
        if not len(sizes.places):
            return NOTHING
        of = sizes.places
        gain, score, best = _best((signal[of], variance[of], skew[of]), sizes, left)
        return Candidate(gain, score, ((place, int(line.fine[best, 0]), int(line.fine[best, 1])), *others))

    def weighed(self, box: Box, left: Left) -> Candidate:
        """Return the score and the gain of a box as it is."""
        rows = box_rows(self.features, box)
        score = np.array(box_score(left, rows)[0])
        cost = np.array(sum(_cost(self.features[part[0]], part) for part in box))
        gain = _gains(score, self._wide(np.array(float(rows.sum()))), cost)
        return Candidate(float(gain), float(_tested(score, cost)), box)

    def pair(self, first: int, second: int, left: Left) -> Candidate:
        """Return the best box of two conditions, one on each of two columns, on coarser bins."""
        one, two = self._lines[first], self._lines[second]
        cell = one.small * (two.small_bins + 1) + two.small
        sizes = self._pair_sizes(first, second, cell)
        if not len(sizes.places):
            return NOTHING
        of = sizes.places
        signal = _boxes(cell, left.signal, one, two)[of]
        if left.even:
            # All rows weigh the same: their number says the rest.
            sums = (signal, sizes.rows * left.variance[0], sizes.rows * left.skew[0])
        else:
            sums = (signal, _boxes(cell, left.variance, one, two)[of], _boxes(cell, left.skew, one, two)[of])
        gain, score, best = _best(sums, sizes, left)
        row, column = divmod(best, len(two.coarse))
        box = (
            (first, int(one.coarse[row, 0]), int(one.coarse[row, 1])),
            (second, int(two.coarse[column, 0]), int(two.coarse[column, 1])),
        )
        return Candidate(gain, score, box)

    def _pair_sizes(self, first: int, second: int, cell: Int64Array) -> _Sizes:
        known = self._pairs.get((first, second))
        if known is None:
            one, two = self._lines[first], self._lines[second]
            known = self._sized(_boxes(cell, None, one, two), (one.coarse_costs[:, None] + two.coarse_costs).ravel())
            if len(self.features) <= MOST_PAIRED:
                # Among more columns the pairs change with each search, and all of them would fill gigabytes.
                self._pairs[first, second] = known
        self._looked_at[first, second] = len(known.places)
        return known

    def _sized(self, rows: Float64Array, costs: Float64Array) -> _Sizes:
        places = np.flatnonzero((rows >= self.fewest) & (rows <= self.largest))
        return _Sizes(places, rows[places], costs[places], self._wide(rows[places]))

    def _wide(self, rows: Float64Array) -> Float64Array:
        return np.asarray(np.minimum(1.0, WIDE * self.rows / np.maximum(rows, 1)) ** WIDENESS)


def _gains(scores: Float64Array, wide: Float64Array, costs: Float64Array) -> Float64Array:
    return np.asarray(0.5 * np.maximum(scores, 0.0) ** 2 * wide - costs)


def _best(sums: tuple[Float64Array, Float64Array, Float64Array], sizes: _Sizes, left: Left) -> tuple[float, float, int]:
    """Return gain, score and place of the box that gains most."""
    signal, variance, skew = sums
    # Most boxes are as expected. Only of the others is the exact score worth its time.
    worse = np.flatnonzero(signal > PLAIN * np.sqrt(np.maximum(variance, 0.0)))
    if not len(worse):
        worse = np.arange(len(signal))
    scores = np.nan_to_num(normal_scores(signal[worse], variance[worse], skew[worse], left.total), nan=-np.inf)
    gains = _gains(scores, sizes.wide[worse], sizes.costs[worse])
    best = int(gains.argmax())
    tested = _tested(scores[best], sizes.costs[worse[best]])
    return float(gains[best]), float(tested), int(sizes.places[worse[best]])


def _tested(scores: Float64Array, costs: Float64Array) -> Float64Array:
    """Return scores less what conditions cost, so that the many boxes with many ends do not drown the few with one."""
    rest = np.maximum(scores, 0.0) ** 2 - 2 * (costs - CONDITION)
    return np.asarray(np.where(scores > 0, np.sqrt(np.maximum(rest, 0.0)), scores))


def _cost(feature: Feature, part: Part) -> float:
    return float(_costs(feature, np.array([part[1:]]))[0])


def _costs(feature: Feature, parts: Int64Array) -> Float64Array:
    """Return what conditions cost to say: more where numbers are held between two ends."""
    low, high = parts[:, 0], parts[:, 1]
    both = (low > 0) & (high < feature.ordered)
    if feature.ordered:
        places = np.minimum(low, feature.ordered - 1), np.minimum(high, feature.ordered) - 1
        both &= feature.lows[places[0]] != feature.highs[places[1]]
    return np.asarray(CONDITION + SECOND_END * both, np.float64)


def _line(feature: Feature) -> _Line:
    single = np.arange(feature.ordered, feature.bins)
    edges = np.concatenate([feature.coarse, single + 1])
    small = np.searchsorted(edges, feature.codes, "right") - 1
    coarse = feature.coarse_parts
    bins = len(edges) - 1
    starts, ends = np.searchsorted(edges, coarse[:, 0]), np.searchsorted(edges, coarse[:, 1])
    places = np.arange(bins + 1)
    holds = ((places >= starts[:, None]) & (places < ends[:, None])).astype(np.float64)
    fine = feature.fine_parts
    costs = _costs(feature, fine), _costs(feature, coarse)
    return _Line(feature.codes, feature.bins, fine, costs[0], small, bins, coarse, costs[1], holds)


def _sums(codes: Int64Array, weights: Float64Array | None, bins: int, parts: Int64Array) -> Float64Array:
    before = np.concatenate([[0.0], np.cumsum(np.bincount(codes, weights, bins + 1))])
    return np.asarray(before[parts[:, 1]] - before[parts[:, 0]], np.float64)


def _boxes(cell: Int64Array, weights: Float64Array | None, one: _Line, two: _Line) -> Float64Array:
    shape = (one.small_bins + 1, two.small_bins + 1)
    table = np.bincount(cell, weights, shape[0] * shape[1]).reshape(shape)
    return np.asarray(one.holds @ table @ two.holds.T, np.float64).ravel()


def normal_scores(signal: Float64Array, variance: Float64Array, skew: Float64Array, total: float) -> Float64Array:
    """Return scores of sums that are standard normal, also far out, where nothing is worse.

    Few mistakes are skewed: five standard deviations more than expected are not rare among many boxes. The sums are
    taken as a shifted gamma distribution, whose cube root is all but normal (Wilson and Hilferty).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # The base is estimated from all rows, which takes away from the variance of a large box.
        real = variance * (1 - variance / total)
        plain = signal / np.sqrt(real)
        bend = skew / real**1.5
        bent = 6 / bend * (np.cbrt(np.maximum(bend * plain / 2 + 1, 1e-9)) - 1) + bend / 6
        return np.where(np.abs(bend) > 1e-4, bent, plain)


def box_score(left: Left, rows: BoolArray) -> tuple[float, float]:
    """Return the score of some rows, and by how much they are worse than expected."""
    signal, variance, skew = (float(one[rows].sum()) for one in (left.signal, left.variance, left.skew))
    if variance <= 0:
        return -np.inf, 0.0
    score = normal_scores(np.array(signal), np.array(variance), np.array(skew), left.total)
    return float(np.nan_to_num(score, nan=-np.inf)), signal / variance
