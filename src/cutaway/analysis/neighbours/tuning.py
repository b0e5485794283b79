"""How thoroughly an approximate index must search, found by measuring against exact search. Answers nobody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.neighbours.exact import Finder
from cutaway.analysis.neighbours.quantized import Quantized, projected
from cutaway.arrays import Float32Array, Int64Array
from cutaway.evaluation.progress import Listener

__all__ = ["NEAREST", "Effort", "tune"]

# The neighbours that recall speaks of, and the share of them that must be found.
NEAREST, TARGET = 10, 0.99
# What is aimed at: above the target by what a sample of this size can be off.
AIM, QUERIES, AT_ONCE = 0.993, 500, 100
# The share of the true neighbours that must lie in the lists that are looked through.
IN_LISTS = 0.998
# Candidates that are measured for each neighbour that is asked for: the fewest, and the most that are tried.
FEWEST, MOST = 10, 160


@dataclass(frozen=True)
class Effort:
    """How thoroughly is searched, and the recall of the 10 nearest that was measured with it."""

    probes: int
    candidates: int  # for each neighbour that is asked for
    recall: float

    def probes_for(self, k: int) -> int:
        """Return how many lists to look through for `k` neighbours, which lie further out the more there are."""
        return int(np.ceil(self.probes * max(1.0, np.sqrt(k / NEAREST))))

    @property
    def reached(self) -> bool:
        """Whether the recall is what it should be."""
        return self.recall >= TARGET


def tune(
    vectors: Float32Array, quantized: Quantized, flat: Finder, *, seed: int, progress: Listener | None = None
) -> Effort:
    """Return the least effort that finds 99 % of the 10 nearest, measured on a seeded sample of the rows.

    A row is not counted among its own neighbours: it is always found, and would make the recall look better.
    """
    rows = np.sort(np.random.default_rng(seed).choice(len(vectors), min(QUERIES, len(vectors)), replace=False))
    queries, k = np.ascontiguousarray(vectors[rows]), min(NEAREST + 1, len(vectors))
    counter = Counter(progress, len(queries), "queries", "measuring recall")
    parts = []
    for start in range(0, len(queries), AT_ONCE):
        parts.append(flat.nearest(queries[start : start + AT_ONCE], k))
        counter.advance(len(parts[-1][0]))
    squares, places = np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])
    probes = _probes(quantized, queries, places)
    candidates = FEWEST
    while True:
        found = quantized.nearest(queries, k, probes=probes, candidates=candidates * k)
        recall = _recall(rows, squares, *found)
        if recall >= AIM or candidates * 2 > MOST:
            return Effort(probes, candidates, recall)
        candidates *= 2


def _probes(quantized: Quantized, queries: Float32Array, places: Int64Array) -> int:
    """Return how many of the nearest lists hold enough of the true neighbours."""
    centroids = quantized.cells.centroids
    coded = projected(queries, quantized.cells.basis, centroids.shape[1])
    # Half a squared distance less the query's own, which does not change the order of lists.
    nearness = (centroids * centroids).sum(axis=1) / 2 - coded @ centroids.T
    ranks = np.empty(nearness.shape, np.int64)
    np.put_along_axis(ranks, np.argsort(nearness, axis=1), np.arange(nearness.shape[1])[None, :], axis=1)
    needed = np.take_along_axis(ranks, quantized.cells.lists[places].astype(np.int64), axis=1) + 1
    return int(np.quantile(needed, IN_LISTS, method="higher"))


def _recall(rows: Int64Array, true: Float32Array, squares: Float32Array, places: Int64Array) -> float:
    """Return which share of the true neighbours was found. One as near as the last true one is as good."""
    limit = true[:, -1:] * (1 + 1e-6)
    found = ((squares <= limit) & (places != rows[:, None])).sum(axis=1)
    wanted = true.shape[1] - 1
    return float(np.minimum(found, wanted).mean() / wanted) if wanted else 1.0
