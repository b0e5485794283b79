"""Brings maps of a layer to the places of an input: linear between the centres of cells, along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from cutaway.arrays import Array, Float32Array, IndexArray

__all__ = ["resize"]


def resize(values: Array, sizes: Sequence[int]) -> Float32Array:
    """Return maps (n, ...) at other sizes; of images this is bilinear, as torch has it without aligned corners.

    >>> resize(np.array([[0.0, 1.0]]), [4]).tolist()
    [[0.0, 0.25, 0.75, 1.0]]
    """
    result = values.astype(np.float32, copy=False)
    for axis, size in enumerate(sizes, start=1):
        if result.shape[axis] != size:
            low, high, share = _between(result.shape[axis], size)
            share = share.reshape(-1, *[1] * (result.ndim - axis - 1))
            first = result.take(low, axis=axis)
            result = first + (result.take(high, axis=axis) - first) * share
    return result


@lru_cache(maxsize=64)
def _between(old: int, new: int) -> tuple[IndexArray, IndexArray, Float32Array]:
    """Return for each new place the two old ones beside it, and how far it is from the first to the second."""
    at = np.maximum((np.arange(new) + 0.5) * (old / new) - 0.5, 0.0)
    low = np.minimum(at.astype(np.intp), old - 1)
    return low, np.minimum(low + 1, old - 1), (at - low).astype(np.float32)
