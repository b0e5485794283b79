"""How surely a box is worse than expected, as standard deviations of a normal. Searches nothing."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.slices.fitting import Left
from cutaway.arrays import BoolArray, Float64Array

__all__ = ["box_score", "normal_scores"]


def normal_scores(signal: Float64Array, variance: Float64Array, skew: Float64Array, total: float) -> Float64Array:
    """Return scores of sums that are standard normal, also far out, where nothing is worse.

    Few mistakes are skewed: five standard deviations more than expected are not rare among many boxes. The sums are
    taken as a shifted gamma distribution, whose cube root is all but normal (Wilson and Hilferty).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # The base is estimated from all rows, which takes away from the variance of a large box.
        real = variance * (1 - variance / total)
        plain = signal / np.sqrt(real)
        bend = skew / real**1.5
        bent = 6 / bend * (np.cbrt(np.maximum(bend * plain / 2 + 1, 1e-9)) - 1) + bend / 6
        return np.where(np.abs(bend) > 1e-4, bent, plain)


def box_score(left: Left, rows: BoolArray) -> tuple[float, float]:
    """Return the score of some rows, and by how much they are worse than expected."""
    signal, variance, skew = (float(one[rows].sum()) for one in (left.signal, left.variance, left.skew))
    if variance <= 0:
        return -np.inf, 0.0
    score = normal_scores(np.array(signal), np.array(variance), np.array(skew), left.total)
    return float(np.nan_to_num(score, nan=-np.inf)), signal / variance
