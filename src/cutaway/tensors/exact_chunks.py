"""Statistics of chunks of float32 values in float64, over the finite values only.

The slow and careful half of `blocked_statistics`: for tensors that hold NaN or infinities, whose squares leave the
range of float32, or whose mean is so large against their spread that float32 sums cannot tell the spread.
Knows chunks, not tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, Int64Array
from cutaway.tensors.chunk_layout import CHUNK

__all__ = ["ChunkStatistics", "changed_squares", "exact_chunks"]

_ONES = np.ones(CHUNK)
_COLUMNS = np.arange(CHUNK)

# What a chunk without finite values holds: extremes that lose against any other chunk's, and sums of nothing.
_NOTHING = {
    "zeros": np.int64(0),
    "min": np.inf,
    "max": -np.inf,
    "abs_min": np.inf,
    "total": 0.0,
    "l1": 0.0,
    "squares": 0.0,
    "deviation": 0.0,
}


@dataclass(frozen=True)
class ChunkStatistics:
    """One entry a chunk; `deviation` is the sum of squares about the chunk's own mean."""

    count: Int64Array
    zeros: Int64Array
    min: Float64Array
    max: Float64Array
    abs_min: Float64Array
    total: Float64Array
    l1: Float64Array
    squares: Float64Array
    deviation: Float64Array


def exact_chunks(rows: Float32Array, valid: Int64Array) -> ChunkStatistics:
    """Return the statistics of every row over its finite values; only the first `valid` values of a row count."""
    finite = np.isfinite(rows)
    if valid.min() < CHUNK:
        finite &= valid[:, None] > _COLUMNS
    count = _true_per_row(finite)
    columns = {name: np.full(count.size, nothing) for name, nothing in _NOTHING.items()}
    # Whole chunks need no mask, and chunks with nothing finite, as a diverged model has them, need no second look.
    for places in (np.flatnonzero(count == CHUNK), np.flatnonzero((count > 0) & (count < CHUNK))):
        if places.size:
            found = _of_rows(rows[places], finite[places], count[places])
            for name, column in columns.items():
                column[places] = found[name]
    return ChunkStatistics(count=count, **columns)


def changed_squares(rows: Float32Array, previous: Float32Array) -> Float64Array:
    """Return, a row, the sum of the squared differences where both values are finite."""
    if np.array_equal(rows, previous):  # frozen weights
        return np.zeros(len(rows))
    change = rows.astype(np.float64)
    change -= previous
    finite = np.isfinite(change)
    if not finite.all():
        change[~finite] = 0
    squares: Float64Array = np.vecdot(change, change)
    return squares


def _of_rows(rows: Float32Array, finite: BoolArray, count: Int64Array) -> dict[str, Array]:
    whole = count[0] == CHUNK
    zero = np.equal(rows, 0)
    low, high, kept = rows, rows, rows
    if not whole:
        zero &= finite
        low, high = np.where(finite, rows, np.float32(np.inf)), np.where(finite, rows, np.float32(-np.inf))
        kept = np.where(finite, rows, np.float32(0))
    values = kept.astype(np.float64)
    total, squares = np.vecdot(values, _ONES), np.vecdot(values, values)
    l1 = np.vecdot(np.absolute(values), _ONES)
    values -= (total / count)[:, None]
    if not whole:
        values *= finite
    return {
        "zeros": _true_per_row(zero),
        "min": low.min(axis=1),
        "max": high.max(axis=1),
        "abs_min": np.absolute(low).min(axis=1),
        "total": total,
        "l1": l1,
        "squares": squares,
        "deviation": np.vecdot(values, values),
    }


def _true_per_row(mask: BoolArray) -> Int64Array:
    # Eight bytes are added at a time; no byte of the 32 words of a row can reach 256.
    words = np.add.reduce(mask.view(np.uint64), axis=1)
    counts: Int64Array = words.view(np.uint8).reshape(-1, 8).sum(axis=1, dtype=np.int64)
    return counts
