"""Similar samples: the nearest in latent space, what they are labelled, and the units that make them similar.

Takes an index and gives tables; builds no index and draws nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.neighbours import Index
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET, Samples
from cutaway.arrays import Array, BoolArray, Float32Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["Similar", "find_similar", "rows_in_region"]


# Up to so many queried samples are taken out of what was found; more are kept out of the search.
FEW = 64
# So many units are named: those that have most to do with it.
UNITS = 20


@dataclass(frozen=True)
class Similar:
    """The samples nearest to a query, nearest first.

    `table` has `sample` and `distance`, then those of `subset`, `label`, `prediction`, `correct` and `loss` that there
    are. `counts` says how many of them have each label, the most frequent first. `units` are the latent units behind
    the similarity, the strongest first:

    - `unit`: its number in the latent space.
    - `share`: its part of what query and neighbours have in common. With all vectors taken relative to the population's
      mean, the squared distance of two samples is the sum of their squared lengths less twice the sum over units of
      their product; a unit's share is its product, of the query and the mean of the neighbours, over the sum of those
      that are positive.
    - `query`, `neighbours`, `population`, `spread`: its activation in the query, its mean over the neighbours, its mean
      and standard deviation over the population.
    - `active`: whether it is above its mean in the query. A unit that is silent in query and neighbours alike makes
      them similar too.

    It says in which units the vectors agree. It does not say what a unit stands for, that the model's answer hangs on
    it, or that units of a small share do not matter: many small ones may do more together.
    """

    table: pa.Table
    counts: dict[str, int]
    units: pa.Table
    notes: tuple[str, ...] = ()


def find_similar(
    samples: Samples, index: Index, query: int | Sequence[int] | Array, k: int, *, among: BoolArray | None = None
) -> Similar:
    """Return the `k` samples nearest to a query, which is none of them.

    `query` is the row of a sample, the rows of several, or a new latent vector (or several, in rows). The distance to
    several is that to the nearest of them: their mean may lie where there are no samples. `among` is a mask over the
    samples; only those that it lets through are found. `index` is over the latent vectors of the same samples.
    """
    if len(index) != len(samples):
        raise ConfigurationError(f"The index has {len(index)} rows, but there are {len(samples)} samples.")
    if among is not None and (among.dtype != np.bool_ or among.shape != (len(samples),)):
        raise ConfigurationError(
            f"`among` must be a mask with one yes or no for each of {len(samples)} samples, but got {among.dtype} of "
            f"shape {among.shape}."
        )
    vectors, rows, notes = _vectors(samples, query)
    places, distances = _nearest(index, vectors, rows, k, among)
    table = samples.table.take(pa.array(places))
    shown = [name for name in (SUBSET, LABEL, PREDICTION, CORRECT, LOSS) if name in table.column_names]
    columns = {SAMPLE: table[SAMPLE], "distance": pa.array(distances, pa.float32())}
    found = pa.table({**columns, **{name: table[name] for name in shown}})
    return Similar(found, _counts(found), _units(samples, vectors, places), index.notes + notes)


def rows_in_region(positions: Float32Array, region: Array | Sequence[Sequence[float]]) -> BoolArray:
    """Return which positions on a map lie in a region: a box by two opposite corners, or a polygon by its corners.

    A polygon that crosses itself holds what an odd number of its turns goes around. The edges of a box belong to it.
    Samples that have no position (NaN) lie in no region.

    >>> rows_in_region(np.array([[0.5, 0.5], [2.0, 0.5]], np.float32), [[0, 0], [1, 1]]).tolist()
    [True, False]
    """
    corners = np.asarray(region, np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2 or not np.isfinite(corners).all():
        raise ConfigurationError(
            "A region is two corners of a box, or three corners or more of a polygon, each an x and a y, but got "
            f"numbers of shape {corners.shape}."
        )
    x, y = np.asarray(positions, np.float64).T
    if len(corners) == 2:
        (left, bottom), (right, top) = corners.min(axis=0), corners.max(axis=0)
        return np.asarray((left <= x) & (x <= right) & (bottom <= y) & (y <= top))
    inside = np.zeros(len(x), np.bool_)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y1 != y2:  # a level edge is crossed by no level ray
            crossing = x1 + (y - y1) * ((x2 - x1) / (y2 - y1))
            inside ^= ((y1 > y) != (y2 > y)) & (x < crossing)
    return inside


def _vectors(samples: Samples, query: int | Sequence[int] | Array) -> tuple[Float32Array, Int64Array, tuple[str, ...]]:
    """Return the vectors that are asked about, the rows of samples that they are, and what was left out."""
    asked = np.asarray(query)
    if asked.dtype.kind == "f" and asked.size:
        return np.atleast_2d(asked), np.empty(0, np.int64), ()
    if asked.dtype.kind not in "iu" or asked.ndim > 1 or not asked.size:
        raise ConfigurationError(
            "A query is the row of a sample, the rows of several, or a latent vector, but got "
            f"{asked.dtype} of shape {asked.shape}."
        )
    rows = np.unique(asked.astype(np.int64))
    if rows[0] < 0 or rows[-1] >= len(samples):
        wrong = int(rows[0] if rows[0] < 0 else rows[-1])
        raise ConfigurationError(f"There is no row {wrong}: the samples are rows 0 to {len(samples) - 1}.")
    vectors = samples.latents[rows]
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.any():
        name = samples.table[SAMPLE][int(rows[0])].as_py()
        raise AnalysisUnavailable("similar samples", f"the latent vector of sample {name!r} is not finite")
    lost = int((~finite).sum())
    notes = (f"{lost} of {len(rows)} queried samples have no finite latent vector and were left out.",) if lost else ()
    return vectors[finite], rows, notes


def _nearest(
    index: Index, vectors: Float32Array, rows: Int64Array, k: int, among: BoolArray | None
) -> tuple[Int64Array, Float32Array]:
    """Return the rows that are nearest to any of the vectors, and how far they are; none of the queried rows."""
    more = len(rows)
    if more > FEW:
        among = np.ones(len(index), np.bool_) if among is None else among.copy()
        among[rows] = False
        more = 0
    found = index.search(vectors, k + more, among=among)
    places, distances = found.indices.ravel(), found.distances.ravel()
    good = (places >= 0) & ~np.isin(places, rows)
    places, distances = places[good], distances[good]
    order = np.lexsort((places, distances))
    # The first time that a row comes up is where it is nearest.
    first = np.sort(np.unique(places[order], return_index=True)[1])[:k]
    return places[order][first], distances[order][first]


def _counts(found: pa.Table) -> dict[str, int]:
    if LABEL not in found.column_names:
        return {}
    labels = [str(one) for one in found[LABEL].to_pylist() if one is not None]
    return dict(sorted(Counter(labels).items(), key=lambda one: (-one[1], one[0])))


def _units(samples: Samples, vectors: Float32Array, places: Int64Array) -> pa.Table:
    mean, spread = samples.unit_spread
    query = vectors.mean(axis=0, dtype=np.float64)
    near = samples.latents[places].mean(axis=0, dtype=np.float64) if len(places) else mean
    products = (query - mean) * (near - mean)
    order = np.argsort(-products, kind="stable")[:UNITS]
    order = order[products[order] > 0]
    total = float(products[products > 0].sum())
    columns: dict[str, Any] = {
        "unit": pa.array(order, pa.int64()),
        "share": pa.array(products[order] / total if total else products[order], pa.float64()),
    }
    for name, values in (("query", query), ("neighbours", near), ("population", mean), ("spread", spread)):
        columns[name] = pa.array(values[order], pa.float64())
    return pa.table({**columns, "active": pa.array(query[order] > mean[order], pa.bool_())})
