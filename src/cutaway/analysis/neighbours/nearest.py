"""The nearest other samples of every sample, computed once for all analyses that go by neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.neighbours import Index, Nearest
from cutaway.analysis.samples import Samples
from cutaway.arrays import Float32Array, IndexArray, Int64Array
from cutaway.evaluation.progress import Listener

__all__ = ["NEAREST", "Nearest", "nearest_of", "without_self"]

NEAREST = 20
"""So many neighbours of each sample are kept."""
# How many samples are searched for between two words of progress.
PIECE = 4_096


def nearest_of(
    samples: Samples, index: Callable[[], Index], *, k: int = NEAREST, progress: Listener | None = None
) -> Nearest:
    """Return the nearest others of every sample; `index` is asked for only where there are two.

    A sample is never its own neighbour. Rows of samples without a usable latent vector are -1 and infinite.
    """
    count = len(samples)
    indices = np.full((count, k), -1, np.int64)
    distances = np.full((count, k), np.inf, np.float32)
    usable = np.flatnonzero(samples.finite)
    if len(usable) < 2:
        return Nearest(indices, distances)
    searched = index()
    counter = Counter(progress, len(usable), "samples", "looking for neighbours")
    for start in range(0, len(usable), PIECE):
        rows = usable[start : start + PIECE]
        found = searched.search(samples.latents[rows], k + 1)
        indices[rows], distances[rows] = without_self(rows, found.indices, found.distances)
        counter.advance(len(rows))
    return Nearest(indices, distances)


def without_self(rows: IndexArray, indices: Int64Array, distances: Float32Array) -> tuple[Int64Array, Float32Array]:
    """Drop each row from its own neighbours; where equal vectors crowded it out, drop the last one instead."""
    own = indices == rows[:, None]
    drop = np.where(own.any(axis=1), own.argmax(axis=1), indices.shape[1] - 1)
    keep = np.arange(indices.shape[1])[None, :] != drop[:, None]
    shape = (len(rows), indices.shape[1] - 1)
    return indices[keep].reshape(shape), distances[keep].reshape(shape)
