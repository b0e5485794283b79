"""Whether two tensors can be close, from their statistics alone.

Pure: what no two tensors within the tolerances of `numpy.allclose` can have, proves that they differ. Agreement proves
nothing: a permutation has the same statistics.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cutaway.arrays import BoolArray, Float64Array

__all__ = ["COMPARED", "Columns", "difference", "may_be_close"]


COMPARED = ("min", "max", "mean", "std", "l1", "l2")


class Columns(Protocol):
    """Statistics by name, as a block or a dictionary gives them."""

    def __getitem__(self, column: str, /) -> Float64Array:
        """Return one statistic."""


def may_be_close(one: Columns, other: Columns, rtol: float, atol: float, *, equal_nan: bool = False) -> BoolArray:
    """Return where two tensors may be close elementwise: `abs(one - other) <= atol + rtol * abs(other)`.

    NaN and infinities make tensors differ, unless `equal_nan` and both have as many.

    >>> def of(*values):
    ...     from dataclasses import asdict
    ...     from cutaway.tensors.statistics import reference_statistics
    ...     return {name: np.array([value], float) for name, value in asdict(reference_statistics(values)).items()}
    >>> bool(may_be_close(of(1, 2), of(1, 2.1), 1e-5, 1e-8)), bool(may_be_close(of(1, 2), of(2, 1), 1e-5, 1e-8))
    (False, True)
    """
    with np.errstate(all="ignore"):
        close: BoolArray = (one["size"] == other["size"]) & (one["nonfinite"] == other["nonfinite"])
        if not equal_nan:
            close &= other["nonfinite"] == 0
        count = other["size"] - other["nonfinite"]
        close &= _differs_no_more_than_allowed("l2", one, other, count, rtol=rtol, atol=atol) | (count == 0)
        # Most tensors differ in their norms already: the rest is compared only where they do not.
        at = np.nonzero(close & (count > 0))
        if len(at[0]):
            near, there = ({name: side[name][at] for name in COMPARED} for side in (one, other))
            for name in COMPARED:
                close[at] &= _differs_no_more_than_allowed(name, near, there, count[at], rtol=rtol, atol=atol)
    return close


def _differs_no_more_than_allowed(
    name: str, one: Columns, other: Columns, count: Float64Array, *, rtol: float, atol: float
) -> BoolArray:
    """Return where a statistic differs by no more than it can when every value is close."""
    if name in ("min", "max"):
        allowed = atol + rtol * np.maximum(np.abs(other["min"]), np.abs(other["max"]))
    elif name == "mean":
        allowed = atol + rtol * other["l1"] / count
    elif name == "std":
        allowed = atol + rtol * other["l2"] / np.sqrt(count)
    elif name == "l1":
        allowed = atol * count + rtol * other["l1"]
    else:
        allowed = atol * np.sqrt(count) + rtol * other["l2"]
    found: BoolArray = np.abs(one[name] - other[name]) <= allowed
    return found


def difference(one: Columns, other: Columns) -> Float64Array:
    """Return the largest difference of any compared statistic; NaN where there is none."""
    with np.errstate(invalid="ignore", over="ignore"):
        found: Float64Array = np.fmax.reduce([np.abs(one[name] - other[name]) for name in COMPARED])
    return found
