"""`find_clusters`: checks what it is given, chooses what to look for clusters in, and says so. Describes nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from cutaway.analysis.clusters.density import DIMENSIONS, dense_groups, few_dimensions, smallest_of
from cutaway.analysis.clusters.kmeans import CANDIDATES, RESTARTS, choose_count, kmeans
from cutaway.analysis.clusters.values import Clusters, clusters_of
from cutaway.analysis.counting import Counter
from cutaway.arrays import Array, Float32Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, refuse_unknown
from cutaway.evaluation.progress import Listener

__all__ = ["METHODS", "find_clusters"]

METHODS = ("hdbscan", "kmeans")
# Below this, k-means cut a cloud without gaps into pieces.
CLEAR_SILHOUETTE = 0.1

_Found = tuple[Int64Array, tuple[str, ...]]


def find_clusters(
    latents: Array,
    *,
    method: str = "hdbscan",
    positions: Array | None = None,
    count: int | None = None,
    smallest: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Clusters:
    """Return groups of samples that lie together.

    `hdbscan` finds dense groups of whatever number, and leaves samples between them out. It runs on `positions`, the
    places of the samples on a map, where they are given, otherwise on the main directions of the latent vectors. No
    group has fewer than `smallest` samples (by default 1 % of them, at least 10). `kmeans` parts the latent vectors
    into `count` groups, by default as many as the silhouette prefers, and leaves none out. Rows that are not finite
    are in no cluster.

    >>> find_clusters(np.array([[0.0], [0.1], [9.0], [9.1], [9.2]]), method="kmeans", count=2).labels.tolist()
    [1, 1, 0, 0, 0]
    """
    vectors = _checked(latents, method, positions, count, smallest)
    usable = np.asarray(np.isfinite(vectors).all(axis=1))
    notes = _left_out(len(vectors) - int(usable.sum()), "the latent vector is not finite")
    if method == "hdbscan" and positions is not None:
        placed = np.asarray(np.isfinite(np.asarray(positions)).all(axis=1))
        notes += _left_out(int((usable & ~placed).sum()), "there is no position on the map")
        usable &= placed
    if not usable.any():
        raise AnalysisUnavailable("clusters", f"of {len(vectors)} samples none has values that can be used.")
    rng = np.random.default_rng(seed)
    rows = _centred(vectors[usable])
    if not rows.any():
        found, said = _all_equal(len(rows), method, smallest)
    elif method == "kmeans":
        with _one_thread():
            found, said = _parted(rows, count, rng, progress)
    else:
        space = None if positions is None else _centred(np.asarray(positions)[usable])
        found, said = _dense(rows, space, smallest, rng, progress)
    return clusters_of(vectors, usable, found, method, (*notes, *said))


def _checked(
    latents: Array, method: str, positions: Array | None, count: int | None, smallest: int | None
) -> Float32Array:
    refuse_unknown("method", method, METHODS)
    vectors = np.asarray(latents)
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`latents` must be numbers with a row for each sample, but got {vectors.dtype} of shape {vectors.shape}."
        )
    if positions is not None and (np.ndim(positions) != 2 or len(positions) != len(vectors)):
        raise ConfigurationError(
            f"`positions` must have a row for each of {len(vectors)} samples, but got shape {np.shape(positions)}."
        )
    for name, value, least, its in (("count", count, 1, "kmeans"), ("smallest", smallest, 2, "hdbscan")):
        if value is not None and method != its:
            raise ConfigurationError(
                f"`{name}` is of method '{its}', but the method is {method!r}.", hint="Leave it out."
            )
        if value is not None and value < least:
            raise ConfigurationError(f"`{name} >= {least}` must hold, but got {name}={value}.")
    return vectors.astype(np.float32, copy=False)


def _left_out(rows: int, why: str) -> tuple[str, ...]:
    return (f"{_samples(rows)} in no cluster: {why}.",) if rows else ()


def _samples(rows: int) -> str:
    return "1 sample is" if rows == 1 else f"{rows:,} samples are"


def _centred(rows: Array) -> Float32Array:
    """Return rows around 0 and no larger than 1, so that squares neither overflow nor drown in a common offset."""
    middle = rows.mean(axis=0, dtype=np.float64)
    away = rows - middle
    # What is left of equal rows after the subtraction is rounding.
    noise = 4 * np.finfo(np.float32).eps * np.abs(rows).max(initial=0.0)
    largest = float(np.abs(away).max(initial=0.0))
    return np.asarray(away / largest if largest > noise else np.zeros_like(away), np.float32)


def _one_thread() -> AbstractContextManager[object]:
    """Keep products of small matrices on one thread: on a busy machine, waiting for others costs ten times the work."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


def _all_equal(rows: int, method: str, smallest: int | None) -> _Found:
    least = 1 if method == "kmeans" else smallest or smallest_of(rows)
    if rows < least:
        return np.full(rows, -1, np.int64), (f"{_samples(rows)} too few for a cluster, which has at least {least}.",)
    return np.zeros(rows, np.int64), ("All latent vectors are equal: they are one cluster.",) if rows > 1 else ()


def _parted(rows: Float32Array, count: int | None, rng: np.random.Generator, progress: Listener | None) -> _Found:
    counter = Counter(progress, RESTARTS + 1 + (0 if count else len(CANDIDATES)), "steps", "finding clusters")
    notes = ["k-means ran on the latent vectors."]
    if count is None:
        counts = choose_count(rows, rng, counter)
        count, rated = counts.best, counts.silhouettes
        if rated:
            notes.append(
                f"Of {min(rated)} to {max(rated)} clusters, {count} have the best silhouette: {rated[count]:.2f}."
            )
            if rated[count] < CLEAR_SILHOUETTE:
                notes.append("There are no gaps between them: k-means cut one cloud into pieces.")
    found = kmeans(rows, count, rng, counter)
    number = len(np.unique(found))
    if number < count:
        notes.append(f"Only {number} of the {count} clusters asked for have samples.")
    return found, tuple(notes)


def _dense(
    rows: Float32Array,
    positions: Float32Array | None,
    smallest: int | None,
    rng: np.random.Generator,
    progress: Listener | None,
) -> _Found:
    counter = Counter(progress, 3, "steps", "finding clusters")
    space = few_dimensions(rows) if positions is None else positions
    counter.advance()
    least = smallest_of(len(rows)) if smallest is None else smallest
    found, used = dense_groups(space, least, rng, counter.advance)
    counter.advance()
    where = f"the {min(DIMENSIONS, rows.shape[1])} main directions of the latent vectors"
    notes = [f"HDBSCAN ran on {where if positions is None else 'the positions on the map'}."]
    if used < len(rows):
        notes.append(f"It ran on {used:,} of {len(rows):,} samples; the others go with most of their nearest five.")
    alone = int((found < 0).sum())
    if alone == len(rows):
        notes.append(f"No group of at least {least} samples is denser than what lies around it.")
    elif alone:
        notes.append(f"{_samples(alone)} in no cluster: they lie between the dense groups.")
    return found, tuple(notes)
