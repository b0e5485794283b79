"""Compares recorded statistics and tensors with a float64 reference taken beside the training.

The bounds are those that the hook promises: minimum, maximum and counts exact; mean within 1e-6 of l1/size; l1 and
l2 within 1e-5; std within 1e-5 of max(std, 1e-3 |mean|).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# What was really in a tensor, and what a tool recorded about it, both keyed by step and tensor.
Key = tuple[int, str]
Statistics = dict[str, float]

EXACT = ("size", "nonfinite", "zeros", "min", "max")
BOUNDS = {"mean": 1e-6, "l1": 1e-5, "l2": 1e-5, "std": 1e-5, "sample_std": 1e-5}


@dataclass(frozen=True)
class Accuracy:
    """The worst that was found over everything compared."""

    compared: int
    missing: int
    inexact: int
    worst_error: float
    worst_share_of_bound: float

    @property
    def kept(self) -> bool:
        """Whether every compared figure was within its bound, and there were some."""
        return self.compared > 0 and not self.missing and not self.inexact and self.worst_share_of_bound <= 1.0


def reference(array: Array) -> Statistics:
    """The statistics of an array's finite values in float64."""
    values = array.astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    magnitudes = np.abs(finite)
    return {
        "size": float(values.size),
        "nonfinite": float(values.size - finite.size),
        "zeros": float(np.count_nonzero(finite == 0.0)),
        "min": float(finite.min()),
        "max": float(finite.max()),
        "mean": float(finite.mean()),
        "std": float(finite.std()),
        "sample_std": float(finite.std(ddof=1)),  # the divisor that some peers use
        "l1": float(magnitudes.sum()),
        "l2": float(np.sqrt(np.square(finite).sum())),
    }


def compare_statistics(truth: dict[Key, Array], recorded: dict[Key, Statistics]) -> Accuracy:
    """The worst error of `recorded` over the tensors whose true values are known."""
    compared = missing = inexact = 0
    worst = share = 0.0
    for key, array in truth.items():
        found = recorded.get(key)
        if found is None:
            missing += 1
            continue
        true = reference(array)
        for name, value in found.items():
            if name not in true:
                continue
            compared += 1
            if name in EXACT:
                inexact += value != true[name]
                continue
            error = _relative(name, value, true)
            worst = max(worst, error)
            share = max(share, error / BOUNDS[name])
    return Accuracy(compared, missing, inexact, worst, share)


def compare_tensors(truth: dict[Key, Array], recorded: dict[Key, Array]) -> Accuracy:
    """Full tensors must come back bit for bit."""
    missing = sum(key not in recorded for key in truth)
    shared = [(array, recorded[key]) for key, array in truth.items() if key in recorded]
    inexact = sum(_differs(array, found) for array, found in shared)
    return Accuracy(len(shared), missing, inexact, 0.0, 0.0)


def _differs(array: Array, found: Array) -> bool:
    return array.dtype != found.dtype or array.shape != found.shape or array.tobytes() != found.tobytes()


def _relative(name: str, value: float, true: Statistics) -> float:
    """The error in the unit that the bound of this statistic is given in."""
    spread = max(true["std"], 1e-3 * abs(true["mean"]))
    scales = {
        "mean": true["l1"] / true["size"],
        "l1": true["l1"],
        "l2": true["l2"],
        "std": spread,
        "sample_std": spread,
    }
    error = abs(value - true[name])
    if error == 0.0:
        return 0.0
    return error / scales[name] if scales[name] else float("inf")
