"""Clusters where samples lie densely (HDBSCAN), in few dimensions and on a part of the samples where there are many.

In many dimensions all samples lie about equally far from each other: HDBSCAN is slow there, and finds little.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.analysis.clusters.values import NONE
from cutaway.analysis.libraries import library
from cutaway.arrays import Float32Array, Int64Array

__all__ = ["DIMENSIONS", "NEIGHBOURS", "dense_groups", "few_dimensions", "smallest_of"]

# The most dimensions that it runs in; a map has two.
DIMENSIONS = 10
# Above these it runs on a part (its time grows with the square), in up to three dimensions and in more.
MOST_ROWS, MOST_ROWS_IN_MANY = 20_000, 10_000
# How many neighbours say how dense a place is, and how many say where a sample outside of the part belongs.
NEIGHBOURS = 5
WHAT = "Finding clusters by HDBSCAN"


def smallest_of(rows: int) -> int:
    """Return how many samples a cluster has at least, where nobody says it: 1 % of them, but no fewer than 10."""
    return max(10, round(rows / 100))


def few_dimensions(rows: Float32Array) -> Float32Array:
    """Return the main directions of finite, centred rows.

    The columns keep their sizes: standardised ones let those that hold only noise drown the others.
    """
    # By the covariance, which is small: it repeats, and needs no choice of a solver.
    _, directions = np.linalg.eigh((rows.T @ rows).astype(np.float64))
    return np.asarray(rows @ directions[:, ::-1][:, :DIMENSIONS].astype(np.float32))


def dense_groups(
    space: Float32Array, smallest: int, rng: np.random.Generator, advance: Callable[[], None]
) -> tuple[Int64Array, int]:
    """Return a cluster for each row (-1: none), and how many rows they were found in."""
    cluster = library("sklearn.cluster", WHAT)
    many = MOST_ROWS if space.shape[1] <= 3 else MOST_ROWS_IN_MANY
    rows = len(space)
    chosen = np.sort(rng.permutation(rows)[:many])
    part = np.ascontiguousarray(space[chosen])
    # In a part, so few of a small group are left that chance makes groups of them.
    least = smallest if len(part) == rows else max(NEIGHBOURS, round(smallest * len(part) / rows))
    if len(part) <= max(least, NEIGHBOURS):
        return np.full(rows, NONE, np.int64), len(part)
    search = cluster.HDBSCAN(min_cluster_size=least, min_samples=NEIGHBOURS, copy=True)
    found = search.fit_predict(part).astype(np.int64)
    advance()
    if len(part) == rows:
        return found, rows
    others = np.setdiff1d(np.arange(rows), chosen, assume_unique=True)
    algorithm = "kd_tree" if space.shape[1] <= 3 else "brute"
    search = library("sklearn.neighbors", WHAT).NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm=algorithm)
    near = search.fit(part).kneighbors(space[others], return_distance=False)
    labels = np.empty(rows, np.int64)
    labels[chosen], labels[others] = found, _most_common(found[near])
    small = np.bincount(labels[labels >= 0], minlength=1) < smallest
    labels[(labels >= 0) & small[labels]] = NONE
    return labels, len(part)


def _most_common(votes: Int64Array) -> Int64Array:
    """Return what most columns of each row say; of two as common, what the nearest of them says."""
    counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    return np.asarray(votes[np.arange(len(votes)), counts.argmax(axis=1)])
