"""`Clusters`: which sample is in which group, numbered by size. Finds none and describes none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import BoolArray, Float32Array, IndexArray, Int64Array

__all__ = ["NONE", "Clusters", "clusters_of"]


# The number of no cluster.
NONE = -1
# Rows that are widened to float64 at once.
ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Clusters:
    """Groups of samples: the largest has the number 0, and -1 stands for samples that are in none.

    `distances` says how far each sample lies from the centre of its cluster in latent space, whatever the clusters
    were found in; NaN for a sample that is in none. `sizes` and `centres` have a row for each cluster. `notes` says
    in words what they were found in, and what was left out.
    """

    labels: Int64Array
    distances: Float32Array
    centres: Float32Array
    method: str
    sizes: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, cluster: int) -> IndexArray:
        """Return the rows of a cluster, nearest to its centre first; -1 gives the rows that are in none."""
        rows = np.flatnonzero(self.labels == cluster)
        return rows if cluster == NONE else rows[np.argsort(self.distances[rows], kind="stable")]


def clusters_of(
    latents: Float32Array, usable: BoolArray, found: Int64Array, method: str, notes: tuple[str, ...]
) -> Clusters:
    """Number what was `found` in the `usable` rows by size, and measure how far each sample is from its centre."""
    labels = np.full(len(latents), NONE, np.int64)
    labels[usable] = _by_size(found)
    count = int(labels.max(initial=NONE)) + 1
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    width = latents.shape[1]
    sums = np.zeros((count, width))
    blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(latents), ROWS_AT_ONCE)]
    for block in blocks:
        own = labels[block]
        members = latents[block][own >= 0].astype(np.float64)
        # A product instead of `np.add.at`, which is a hundred times slower.
        sums += (np.arange(count)[:, None] == own[own >= 0]).astype(np.float64) @ members
    centres = sums / np.maximum(sizes, 1)[:, None]
    distances = np.full(len(latents), np.nan, np.float32)
    for block in blocks:
        own = labels[block]
        away = latents[block][own >= 0].astype(np.float64) - centres[own[own >= 0]]
        distances[block][own >= 0] = np.sqrt(np.einsum("ij,ij->i", away, away))
    return Clusters(labels, distances, centres.astype(np.float32), method, tuple(int(one) for one in sizes), notes)


def _by_size(found: Int64Array) -> Int64Array:
    """Give the largest cluster the number 0; of two as large, the one whose first row comes first."""
    numbers, first, sizes = np.unique(found[found >= 0], return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    new = np.full(int(found.max(initial=NONE)) + 2, NONE, np.int64)  # the last entry is what -1 looks up
    new[numbers[order]] = np.arange(len(numbers))
    return new[found]
