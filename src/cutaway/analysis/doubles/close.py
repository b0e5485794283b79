"""Pairs that lie far nearer to each other than chance puts samples. Knows distances only, no samples and no words.

Around a sample, neighbours lie as in a ball of some dimension d: of k neighbours within the distance s of the k-th,
k * (x / s) ** d are expected within x. The dimension is read off the neighbours themselves (half of them lie within
s * 0.5 ** (1 / d)), so that classes that crowd together, and spaces of any shape, each have their own measure of near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.statistics.false_shares import false_shares
from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["FEWEST", "Pairs", "close_pairs"]


FEWEST = 4
"""With fewer neighbours nothing tells what is usual around a sample."""
# A lattice looks as if it had endless dimensions: every step that is shorter than others would be a wonder.
MOST_DIMENSIONS = 20.0
# In many dimensions chance gives no pair at 0.7 of the usual distance, and yet it is no duplicate.
NEAR = 0.5


class Pairs(NamedTuple):
    """Rows of pairs, the surest first: how many times nearer than usual, and the share of chance among such pairs."""

    first: Int64Array
    second: Int64Array
    times: Float64Array
    chance: Float64Array


class _Around(NamedTuple):
    """The neighbours of some rows that count: (rows, k), how many there are, the distance of the last."""

    rows: Int64Array
    indices: Int64Array
    distances: Float64Array
    counts: Int64Array
    scale: Float64Array


def close_pairs(nearest: Nearest, counted: BoolArray, *, false_share: float) -> Pairs:
    """Return the pairs of which at most `false_share` is chance, among the rows that `counted` lets through."""
    around = _around(nearest, counted)
    known = np.flatnonzero((around.counts >= FEWEST) & (around.scale > 0))
    if not len(known):
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
    first, second, times, expected = _candidates(around, known, _dimensions(around, known, len(counted)))
    chance = false_shares(expected)
    order = np.lexsort((second, first, expected))
    order = order[chance[order] <= false_share]
    return Pairs(first[order], second[order], times[order], chance[order])


def _around(nearest: Nearest, counted: BoolArray) -> _Around:
    rows = np.flatnonzero(counted).astype(np.int64)
    indices, distances = nearest.indices[rows], nearest.distances[rows].astype(np.float64)
    valid = (indices >= 0) & counted[indices] & np.isfinite(distances)
    order = np.argsort(~valid, axis=1, kind="stable")
    counts = valid.sum(axis=1).astype(np.int64)
    indices = np.take_along_axis(np.where(valid, indices, -1), order, axis=1)
    distances = np.take_along_axis(np.where(valid, distances, np.inf), order, axis=1)
    scale = np.where(counts > 0, np.take_along_axis(distances, np.maximum(counts - 1, 0)[:, None], axis=1)[:, 0], 0.0)
    return _Around(rows, indices, distances, counts, scale)


def _dimensions(around: _Around, known: Int64Array, total: int) -> Float64Array:
    """Return the dimension around each of the known rows: the median of its own and its neighbours'.

    One alone strays by a quarter, and a duplicate would spoil its own measure.
    """
    half = around.counts[known] // 2
    middle = np.take_along_axis(around.distances[known], (half - 1)[:, None], axis=1)[:, 0]
    # A middle of 0 is a crowd of equal vectors; the smallest distance keeps its logarithm finite.
    ratio = around.scale[known] / np.maximum(middle, 1e-9 * around.scale[known])
    inverse = np.log(ratio) / np.log(around.counts[known] / half)
    everywhere = np.full(total, np.median(inverse))
    everywhere[around.rows[known]] = inverse
    own = around.rows[known][:, None]
    pooled = np.median(everywhere[np.where(around.indices[known] < 0, own, around.indices[known])], axis=1)
    return np.asarray(1.0 / np.maximum(pooled, 1.0 / MOST_DIMENSIONS))


def _candidates(
    around: _Around, known: Int64Array, dimensions: Float64Array
) -> tuple[Int64Array, Int64Array, Float64Array, Float64Array]:
    """Return pairs that are nearer than usual for both, once each: rows, how many times, pairs expected by chance."""
    place = np.full(int(around.rows[-1]) + 1, -1, np.int64)
    place[around.rows[known]] = np.arange(len(known))
    left, column = np.nonzero(around.distances[known] <= NEAR * around.scale[known][:, None])
    distance, right = around.distances[known[left], column], place[around.indices[known[left], column]]
    mutual = right >= 0
    mutual[mutual] = distance[mutual] <= NEAR * around.scale[known[right[mutual]]]
    left, right, distance = left[mutual], right[mutual], distance[mutual]
    # The same pair from its other end.
    ends = np.sort(np.stack([left, right], axis=1), axis=1)
    _, once = np.unique(ends[:, 0] * len(known) + ends[:, 1], return_index=True)
    ends, distance = ends[once], distance[once]
    shares = distance[:, None] / around.scale[known[ends]]
    # A sample expects so many neighbours as near; the less surprised of the two has the say.
    neighbours = (around.counts[known[ends]] * shares ** dimensions[ends]).max(axis=1)
    with np.errstate(divide="ignore"):
        times = 1.0 / shares.max(axis=1)
    rows = around.rows[known[ends]]
    return rows[:, 0], rows[:, 1], times, neighbours * len(around.rows) / 2
