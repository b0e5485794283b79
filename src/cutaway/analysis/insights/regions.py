"""The parts of a population in which a model may do differently: classes, clusters or cells, and metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from cutaway.analysis.clusters.kmeans import kmeans
from cutaway.analysis.insights.columns import Described, Region, regions_of
from cutaway.analysis.samples import LABEL, Samples
from cutaway.arrays import Float32Array, Int64Array

__all__ = ["all_regions"]

# Latent space is cut into so many cells, which are found in so many of the samples.
CELLS, ROWS = 20, 2000
# Of the values of a column, so many at most are regions.
MOST_VALUES = 50


def all_regions(
    samples: Samples, columns: Sequence[Described], clusters: Int64Array | None, rng: np.random.Generator
) -> Iterator[Region]:
    """Yield every region: values and fifths of columns, and clusters, or cells of latent space without clusters."""
    for column in columns:
        if len(column.names) <= MOST_VALUES or column.name == LABEL:
            yield from regions_of(column)
    if clusters is None:
        yield from _cells(samples, rng)
        return
    for number in range(int(clusters.max(initial=-1)) + 1):
        yield Region(f"cluster {number}", np.asarray(clusters == number), (f"cluster {number}",))


def _cells(samples: Samples, rng: np.random.Generator) -> Iterator[Region]:
    usable = np.flatnonzero(samples.finite)
    if len(usable) < 10 * CELLS:
        return
    chosen = np.sort(rng.permutation(usable)[:ROWS])
    centre = samples.latents[chosen].mean(axis=0, dtype=np.float64).astype(np.float32)
    some = samples.latents[chosen] - centre
    found = kmeans(some, CELLS, rng)
    centres = np.stack([some[found == number].mean(axis=0) for number in np.unique(found)])
    cells = np.full(len(samples), -1, np.int64)
    cells[usable] = _nearest(samples.latents[usable] - centre, centres)
    labels = samples.table[LABEL].to_pylist() if samples.has(LABEL) else None
    for number in range(len(centres)):
        rows = np.asarray(cells == number)
        yield Region(_words(number, len(centres), rows, labels), rows, ())


def _nearest(rows: Float32Array, centres: Float32Array) -> Int64Array:
    return np.asarray((np.einsum("ij,ij->i", centres, centres) - 2 * (rows @ centres.T)).argmin(axis=1), np.int64)


def _words(number: int, count: int, rows: np.ndarray, labels: list[str] | None) -> str:
    text = f"Cell {number} of {count} of latent space"
    if labels is None or not rows.any():
        return text
    present = Counter(labels[row] for row in np.flatnonzero(rows).tolist()).most_common(2)
    return f"{text} (mostly {' and '.join(str(name) for name, _ in present)})"
