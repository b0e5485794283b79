"""Which candidate lies farthest from all that is labelled or chosen, again and again: greedy k-centre, with weights.

Distances are by matrix products in blocks, on a GPU where torch sees one. Knows no samples; judges no candidate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cutaway.analysis.devices import choose_device
from cutaway.arrays import BoolArray, Float32Array, Int64Array

__all__ = ["Cover", "Pick"]


# How many numbers a block of distances may have.
BLOCK = 2**23
# Squared distances by products are off by this part of the squared lengths; below it two vectors count as the same.
SAME = 1e-6
# The most promising candidates are looked at closely before all are measured again.
CLOSELY = 2_048


class Pick(NamedTuple):
    """A candidate, what its weighted distance was, how far it lay from what covers it, and which one that is."""

    place: int
    value: float
    distance: float
    nearest: int


class Cover:
    """Candidates against what covers them: the labelled samples at first, and then each chosen candidate.

    What covers is counted so: the labelled samples, then the candidates; -1 where nothing covers yet, at an infinite
    distance.
    """

    def __init__(self, candidates: Float32Array, labelled: Float32Array, *, device: str | None = None) -> None:
        import torch

        self._torch, self._device = torch, choose_device(device)
        # Around their own middle numbers are smaller, and products round less.
        middle = candidates.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._vectors = candidates - middle
        self._squares = np.einsum("ij,ij->i", self._vectors, self._vectors)
        self._there = torch.from_numpy(self._vectors).to(self._device)
        self._labelled = len(labelled)
        self._taken = np.zeros(len(candidates), np.bool_)
        self.distances = np.full(len(candidates), np.inf, np.float32)
        self.nearest: Int64Array = np.full(len(candidates), -1, np.int64)
        if len(labelled):
            self._measure(labelled - middle, np.arange(len(labelled)))

    def farthest(self, weights: Float32Array, count: int) -> Iterator[Pick]:
        """Yield the candidate with the largest weighted distance, `count` times; values never grow.

        A distance only shrinks as more is chosen. So while the best of the most promising ones is still worth more
        than any other was before, it is the best of all, and the others need not be measured.
        """
        while count > 0:
            if not np.isfinite(self.distances[0]):  # nothing covers anything
                first = self._central(weights)
                yield Pick(first, np.inf, np.inf, -1)
                self.add(np.array([first]))
                count -= 1
                continue
            picks = self._closely(np.where(self._taken, -1, self.distances * weights), weights, count)
            yield from picks
            self.add(np.array([pick.place for pick in picks]))
            count -= len(picks)

    def followed(self, order: Int64Array, values: Float32Array) -> Iterator[Pick]:
        """Yield candidates in an order that is given, each with its distance to what covers it by then."""
        vectors, squares = self._vectors[order], self._squares[order]
        distances, nearest = self.distances[order], self.nearest[order]
        for here, place in enumerate(order.tolist()):
            yield Pick(place, float(values[place]), float(distances[here]), int(nearest[here]))
            nearer = _shrink(distances, vectors, squares, here)
            nearest[nearer] = self._labelled + place

    def add(self, places: Int64Array) -> None:
        """Let candidates cover the others from now on."""
        self._taken[places] = True
        self._measure(self._vectors[places], self._labelled + places)

    def _central(self, weights: Float32Array) -> int:
        """Return a candidate near the middle of all, a heavier one sooner: where to begin with no label."""
        lengths = np.sqrt(self._squares)
        return int(np.argmin((lengths + lengths.mean()) / weights))

    def _closely(self, values: Float32Array, weights: Float32Array, count: int) -> list[Pick]:
        """Choose among the most promising candidates for as long as none of the others can be better."""
        kept = np.arange(len(values))
        bound = -np.inf
        if len(values) > CLOSELY:
            order = np.argpartition(-values, CLOSELY)
            kept, bound = np.sort(order[:CLOSELY]), float(values[order[CLOSELY]])
        vectors, squares, given, taken = self._vectors[kept], self._squares[kept], weights[kept], self._taken[kept]
        distances, nearest = self.distances[kept], self.nearest[kept]
        picks: list[Pick] = []
        while len(picks) < min(count, int((~self._taken).sum())):
            worth = np.where(taken, -1, distances * given)
            here = int(worth.argmax())
            if picks and worth[here] <= bound:
                break
            picks.append(Pick(int(kept[here]), float(worth[here]), float(distances[here]), int(nearest[here])))
            taken[here] = True
            nearer = _shrink(distances, vectors, squares, here)
            nearest[nearer] = self._labelled + kept[here]
        return picks

    def _measure(self, others: Float32Array, numbers: Int64Array) -> None:
        """Let vectors cover all candidates from now on."""
        lengths = np.einsum("ij,ij->i", others, others)
        there, about = (self._torch.from_numpy(one).to(self._device) for one in (others, lengths))
        step = max(1, BLOCK // len(others))
        for start in range(0, len(self._vectors), step):
            rows = slice(start, start + step)
            # The squared length of a candidate is the same in its whole row: the nearest is found without it.
            found, place = self._nearest_of(self._there[rows], there, about)
            scale = self._squares[rows] + lengths[place]
            squares = found + self._squares[rows]
            distances = np.sqrt(np.where(squares <= SAME * scale, 0, squares))
            nearer = distances < self.distances[rows]
            self.distances[rows] = np.where(nearer, distances, self.distances[rows])
            self.nearest[rows] = np.where(nearer, numbers[place], self.nearest[rows])

    def _nearest_of(self, vectors: Any, others: Any, lengths: Any) -> tuple[Float32Array, Int64Array]:
        found, place = self._torch.addmm(lengths[None, :], vectors, others.T, alpha=-2.0).min(1)
        return found.cpu().numpy(), place.cpu().numpy()


def _shrink(distances: Float32Array, vectors: Float32Array, squares: Float32Array, here: int) -> BoolArray:
    """Let row `here` cover the other rows: lower their distances, in place, and return which ones it is nearest to."""
    scale = squares + squares[here]
    found = scale - 2 * (vectors @ vectors[here])
    found = np.sqrt(np.where(found <= SAME * scale, 0, found))
    nearer = np.asarray(found < distances)
    distances[nearer] = found[nearer]
    return nearer
