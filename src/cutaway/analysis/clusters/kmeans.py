"""k-means in latent space, and how many clusters to look for. Plain numpy, so that it repeats bit for bit.

scikit-learn adds up what its threads found in whatever order they finish, so that two runs with one seed can differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.arrays import Float32Array, Int64Array

__all__ = ["CANDIDATES", "Counts", "choose_count", "kmeans", "nearest_centres"]

# How many clusters are tried where nobody says how many.
CANDIDATES = (*range(2, 13), 15, 20, 25, 30)
# Restarts are tried on so many rows; only the best goes on with all of them.
ROWS_TO_TRY = 5000
# How many clusters there are is tried on so many; silhouettes need the distance of each of them to each other.
ROWS_TO_RATE = 2000
RESTARTS = 8
RESTARTS_TO_RATE = 3
ROUNDS = 60


@dataclass(frozen=True)
class Counts:
    """How many clusters fit best, by the mean silhouette (1: far apart, 0: no gaps) of each that was tried."""

    best: int
    silhouettes: dict[int, float]


def kmeans(rows: Float32Array, count: int, rng: np.random.Generator, counter: Counter | None = None) -> Int64Array:
    """Return a cluster for each row; fewer than `count` where fewer rows differ. Rows must be finite and centred."""
    tried = _some(rows, ROWS_TO_TRY, rng)
    settled = []
    for _ in range(RESTARTS):
        settled.append(_settle(tried, _start(tried, count, rng)))
        if counter is not None:
            counter.advance()
    best, _ = min(settled, key=lambda one: one[1])
    centres, _ = _settle(rows, best)
    if counter is not None:
        counter.advance()
    return nearest_centres(rows, centres)


def choose_count(rows: Float32Array, rng: np.random.Generator, counter: Counter | None = None) -> Counts:
    """Return which number of clusters parts the rows best."""
    rated = _some(rows, ROWS_TO_RATE, rng)
    distances = np.sqrt(_squares(rated, rated))
    np.fill_diagonal(distances, 0.0)
    silhouettes: dict[int, float] = {}
    for count in CANDIDATES:
        if counter is not None:
            counter.advance()
        centres, cost = min(
            (_settle(rated, _start(rated, count, rng)) for _ in range(RESTARTS_TO_RATE)), key=lambda one: one[1]
        )
        if len(centres) == count < len(rated):
            silhouettes[count] = _silhouette(distances, nearest_centres(rated, centres))
        if cost == 0.0:
            break  # each row lies on its centre: more clusters than rows that differ
    best = max(silhouettes, key=lambda count: silhouettes[count], default=1)
    return Counts(best, silhouettes)


def _some(rows: Float32Array, count: int, rng: np.random.Generator) -> Float32Array:
    return rows[rng.permutation(len(rows))[:count]]


def _squares(rows: Float32Array, centres: Float32Array) -> Float32Array:
    """Return the square of the distance of each row to each centre."""
    sums = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", centres, centres)
    return np.asarray(np.maximum(sums - 2 * (rows @ centres.T), 0.0))


def nearest_centres(rows: Float32Array, centres: Float32Array) -> Int64Array:
    """Return the number of the nearest centre of each row."""
    # The square of the row itself is the same for all centres, and would cost the precision of near ones.
    scores = np.einsum("ij,ij->i", centres, centres) - 2 * (rows @ centres.T)
    return np.asarray(scores.argmin(axis=1), np.int64)


def _start(rows: Float32Array, count: int, rng: np.random.Generator) -> Float32Array:
    """Return rows to begin with; fewer where no other row is left.

    Each is the best of a few that are drawn the more readily the farther they lie from those before (greedy k-means++).
    """
    chosen = [int(rng.integers(len(rows)))]
    # By differences: by products, rounding would leave a distance between equal rows.
    away = np.square(rows - rows[chosen[0]]).sum(axis=1)
    draws = 2 + int(np.log(count))
    while len(chosen) < count and away.any():
        reach = np.cumsum(away, dtype=np.float64)
        drawn = np.searchsorted(reach, rng.random(draws) * reach[-1], side="right").clip(max=len(rows) - 1)
        nearer = [np.minimum(away, np.square(rows - rows[one]).sum(axis=1)) for one in drawn]
        best = int(np.argmin([left.sum(dtype=np.float64) for left in nearer]))
        chosen.append(int(drawn[best]))
        away = nearer[best]
    return rows[chosen]


def _settle(rows: Float32Array, centres: Float32Array) -> tuple[Float32Array, float]:
    """Move centres to the middle of their rows until no row changes sides; a centre that loses its rows goes."""
    before: Int64Array | None = None
    for _ in range(ROUNDS):
        labels = nearest_centres(rows, centres)
        if before is not None and np.array_equal(labels, before):
            break
        sizes = np.bincount(labels, minlength=len(centres))
        members = (np.arange(len(centres))[:, None] == labels).astype(rows.dtype)
        moved = (members @ rows) / np.maximum(sizes, 1)[:, None].astype(rows.dtype)
        centres = moved[sizes > 0]
        before = labels if len(centres) == len(sizes) else None
    return centres, float(np.square(rows - centres[nearest_centres(rows, centres)]).sum(dtype=np.float64))


def _silhouette(distances: Float32Array, labels: Int64Array) -> float:
    """Return the mean silhouette of rows by their distances to each other; a row that is alone counts 0."""
    count = int(labels.max()) + 1
    members = (labels[:, None] == np.arange(count)).astype(distances.dtype)
    sizes = members.sum(axis=0)
    sums = distances @ members
    rows = np.arange(len(labels))
    inside = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf)
    means[rows, labels] = np.inf
    outside = means.min(axis=1)
    larger = np.maximum(inside, outside)
    fine = (sizes[labels] > 1) & (larger > 0) & np.isfinite(outside)
    return float(np.where(fine, (outside - inside) / np.where(fine, larger, 1.0), 0.0).mean())
