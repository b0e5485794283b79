"""Clusters where samples lie densely (HDBSCAN), in few dimensions and on a part of the samples where there are many.

In many dimensions all samples lie about equally far from each other: HDBSCAN is slow there, and finds little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cutaway.analysis.clusters.values import NONE, Ints
from cutaway.analysis.samples import Floats
from cutaway.errors import MissingExtraError

__all__ = ["DIMENSIONS", "NEIGHBOURS", "dense_groups", "few_dimensions", "smallest_of"]

# The most dimensions that it runs in; a map has two.
DIMENSIONS = 10
# Above these it runs on a part (its time grows with the square), in up to three dimensions and in more.
MOST_ROWS, MOST_ROWS_IN_MANY = 20_000, 10_000
# How many neighbours say how dense a place is, and how many say where a sample outside of the part belongs.
NEIGHBOURS = 5
# A unit that hardly varies is not blown up to the others' size: it would be noise.
SMALLEST_SPREAD = 0.01


def smallest_of(rows: int) -> int:
    """Return how many samples a cluster has at least, where nobody says it: 1 % of them, but no fewer than 5."""
    return max(5, round(rows / 100))


def few_dimensions(rows: Floats) -> Floats:
    """Return the main directions of the standardised columns; rows must be finite and centred."""
    spread = rows.std(axis=0)
    scaled = rows / np.maximum(spread, SMALLEST_SPREAD * spread.max(initial=0.0) or 1.0)
    # The covariance is small and exact; it repeats, and needs no choice of a solver.
    _, directions = np.linalg.eigh((scaled.T @ scaled).astype(np.float64))
    return np.asarray(scaled @ directions[:, ::-1][:, :DIMENSIONS].astype(np.float32))


def dense_groups(
    space: Floats, smallest: int, rng: np.random.Generator, advance: Callable[[], None]
) -> tuple[Ints, int]:
    """Return a cluster for each row (-1: none), and how many rows they were found in."""
    HDBSCAN, NearestNeighbors = _parts()  # noqa: N806 - two classes
    many = MOST_ROWS if space.shape[1] <= 3 else MOST_ROWS_IN_MANY
    rows = len(space)
    chosen = np.sort(rng.permutation(rows)[:many])
    part = np.ascontiguousarray(space[chosen])
    least = max(2, round(smallest * len(part) / rows))
    if len(part) <= max(least, NEIGHBOURS):
        return np.full(rows, NONE, np.int64), len(part)
    found = HDBSCAN(min_cluster_size=least, min_samples=min(NEIGHBOURS, least), copy=True).fit_predict(part)
    found = found.astype(np.int64)
    advance()
    if len(part) == rows:
        return found, rows
    others = np.setdiff1d(np.arange(rows), chosen, assume_unique=True)
    search = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="kd_tree" if space.shape[1] <= 3 else "brute")
    near = search.fit(part).kneighbors(space[others], return_distance=False)
    labels = np.empty(rows, np.int64)
    labels[chosen], labels[others] = found, _most_common(found[near])
    return labels, len(part)


def _most_common(votes: Ints) -> Ints:
    """Return what most columns of each row say; of two as common, what the nearest of them says."""
    counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    return np.asarray(votes[np.arange(len(votes)), counts.argmax(axis=1)])


def _parts() -> tuple[Any, Any]:
    try:
        from sklearn.cluster import HDBSCAN
        from sklearn.neighbors import NearestNeighbors
    except ImportError as error:
        raise MissingExtraError("Finding clusters by HDBSCAN", "analysis") from error
    return HDBSCAN, NearestNeighbors
