"""`Rows`: vectors as a search can use them. Checks, converts and conditions them; searches nothing.

What is searched is float32, finite and well conditioned. Vectors that are all that already, such as the memory-mapped
latent vectors of a run, are used where they lie; others are copied once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array, BoolArray, Float32Array, IndexArray, Int64Array
from cutaway.errors import ConfigurationError

__all__ = ["BLOCK", "Rows", "prepare"]


# So many rows are looked at in one go, so that a file that is larger than the memory can be gone through.
BLOCK = 65_536
# From how many rows the mean and the spread are estimated.
SAMPLE = 4_096
# Squares of larger and smaller numbers than these leave the range of float32.
LARGEST, SMALLEST = 1e15, 1e-12
# Where the mean is so many times as far from zero as the rows are from the mean, products of float32 lose the
# differences between rows, and the mean is taken off.
FAR = 4.0


@dataclass(frozen=True)
class Rows:
    """The rows that can be found: `vectors`, which stand for `(row - centre) / scale` of what was given.

    `ids` says which row of what was given each is, or is None where none was left out; `total` counts those given.
    """

    vectors: Float32Array
    ids: Int64Array | None
    total: int
    centre: Float32Array | None = None
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    def conditioned(self, queries: Array) -> Float32Array:
        """Return queries as the rows are: float32, with the centre taken off, scaled. They must be finite."""
        given = np.atleast_2d(np.asarray(queries))
        if given.ndim != 2 or given.shape[1] != self.width or given.dtype.kind not in "biuf":
            raise ConfigurationError(
                f"Queries must be numbers in rows of {self.width}, as the vectors of the index are, but got "
                f"{given.dtype} of shape {np.shape(queries)}."
            )
        single = _single(given)
        bad = np.flatnonzero(~np.isfinite(single).all(axis=1))
        if len(bad):
            raise ConfigurationError(
                f"{len(bad)} of {len(single)} queries are not finite, the first is query {int(bad[0])}.",
                hint="A sample whose latent vector is NaN or infinite has no neighbours; leave it out.",
            )
        moved = _moved(single, self.centre, self.scale)
        far = float(np.abs(moved).max(initial=0.0))
        if not far < LARGEST:
            raise ConfigurationError(
                f"Queries reach {np.abs(single).max():.3g}, too far from the vectors of the index to be compared with "
                "them in single precision."
            )
        return moved

    def positions(self, among: BoolArray) -> Int64Array:
        """Return where the rows lie that a mask over what was given lets through."""
        mask = np.asarray(among)
        if mask.dtype != np.bool_ or mask.shape != (self.total,):
            raise ConfigurationError(
                f"`among` must be a mask with one yes or no for each of {self.total} rows, but got {mask.dtype} of "
                f"shape {mask.shape}."
            )
        return np.flatnonzero(mask if self.ids is None else mask[self.ids]).astype(np.int64, copy=False)

    def named(self, positions: Int64Array) -> Int64Array:
        """Return the rows of what was given for positions here; -1 stays."""
        if self.ids is None or not len(self.ids):
            return positions
        return np.where(positions < 0, -1, self.ids[positions])


def prepare(vectors: Array) -> Rows:
    """Return the rows of `vectors` that can be found. Copies them at most once, and not at all where they are fit."""
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf" or not vectors.shape[1]:
        raise ConfigurationError(
            f"`vectors` must be numbers, a row for each sample, but got {vectors.dtype} of shape {vectors.shape}."
        )
    finite, largest = _looked_at(vectors)
    good = np.flatnonzero(finite)
    ids = None if len(good) == len(vectors) else good.astype(np.int64)
    scale = 1.0 if largest == 0 or SMALLEST < largest < LARGEST else largest
    centre = _centre(vectors, good, scale)
    if ids is None and centre is None and scale == 1.0:
        return Rows(np.ascontiguousarray(vectors, np.float32), None, len(vectors))
    rows = np.empty((len(good), vectors.shape[1]), np.float32)
    for start in range(0, len(good), BLOCK):
        rows[start : start + BLOCK] = _moved(_single(vectors[good[start : start + BLOCK]]), centre, scale)
    return Rows(rows, ids, len(vectors), centre, scale)


def _looked_at(vectors: Array) -> tuple[BoolArray, float]:
    """Return which rows are finite as float32, and the largest number in them."""
    finite, largest = np.empty(len(vectors), np.bool_), 0.0
    for start in range(0, len(vectors), BLOCK):
        block = _single(vectors[start : start + BLOCK])
        good = np.isfinite(block).all(axis=1)
        finite[start : start + BLOCK] = good
        if good.any():
            kept = block if good.all() else block[good]
            largest = max(largest, float(kept.max()), -float(kept.min()))
    return finite, largest


def _centre(vectors: Array, good: IndexArray, scale: float) -> Float32Array | None:
    if not len(good):
        return None
    some = _single(vectors[good[:: -(-len(good) // SAMPLE)]]).astype(np.float64) / scale
    mean = some.mean(axis=0)
    spread = float(((some - mean) ** 2).sum(axis=1).mean())
    return (mean * scale).astype(np.float32) if float(mean @ mean) > FAR**2 * spread else None


def _single(block: Array) -> Float32Array:
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is left out like any such row
        return np.ascontiguousarray(block, np.float32)


def _moved(block: Float32Array, centre: Float32Array | None, scale: float) -> Float32Array:
    if centre is None and scale == 1.0:
        return block
    # In double precision: both the numbers and their differences may be at the ends of the range of float32.
    moved = block.astype(np.float64) if centre is None else block.astype(np.float64) - centre
    return _single(moved / scale)
