"""Whether two tensors can be close, from their statistics alone.

Pure: what no two tensors within the tolerances of `numpy.allclose` can have, proves that they differ. Agreement proves
nothing: a permutation has the same statistics.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Columns", "difference", "may_be_close"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

COMPARED = ("min", "max", "mean", "std", "l1", "l2")


class Columns(Protocol):
    """Statistics by name, as a block or a dictionary gives them."""

    def __getitem__(self, column: str, /) -> Floats:
        """Return one statistic."""


def may_be_close(one: Columns, other: Columns, rtol: float, atol: float, *, equal_nan: bool = False) -> Bools:
    """Return where two tensors may be close elementwise: `abs(one - other) <= atol + rtol * abs(other)`.

    NaN and infinities make tensors differ, unless `equal_nan` and both have as many.

    >>> def of(*values):
    ...     from dataclasses import asdict
    ...     from cutaway.tensors.statistics import reference_statistics
    ...     return {name: np.array(value, float) for name, value in asdict(reference_statistics(values)).items()}
    >>> bool(may_be_close(of(1, 2), of(1, 2.1), 1e-5, 1e-8)), bool(may_be_close(of(1, 2), of(2, 1), 1e-5, 1e-8))
    (False, True)
    """
    count = other["size"] - other["nonfinite"]
    largest = np.maximum(np.abs(other["min"]), np.abs(other["max"]))
    with np.errstate(all="ignore"):
        # Norms over more values may differ by more; means by as much as the mean absolute value allows.
        allowed = {
            "min": atol + rtol * largest,
            "max": atol + rtol * largest,
            "mean": atol + rtol * other["l1"] / count,
            "std": atol + rtol * other["l2"] / np.sqrt(count),
            "l1": atol * count + rtol * other["l1"],
            "l2": atol * np.sqrt(count) + rtol * other["l2"],
        }
        close: Bools = (one["size"] == other["size"]) & (one["nonfinite"] == other["nonfinite"])
        if not equal_nan:
            close &= other["nonfinite"] == 0
        nothing = count == 0
        for name in COMPARED:
            close &= nothing | (np.abs(one[name] - other[name]) <= allowed[name])
    return close


def difference(one: Columns, other: Columns) -> Floats:
    """Return the largest difference of any compared statistic; NaN where there is none."""
    with np.errstate(invalid="ignore", over="ignore"):
        found: Floats = np.fmax.reduce([np.abs(one[name] - other[name]) for name in COMPARED])
    return found
