"""A smooth curve through the numbers of batches: a running mean around each. It lags behind nothing."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float64Array

__all__ = ["smoothed"]


# Of all batches, what is taken together where nobody says it, and no more than so many.
PART = 20
WIDEST = 101


def smoothed(values: Float64Array, counts: Float64Array, window: int | None = None) -> Float64Array:
    """Return at each place the mean of the values around it, weighted by their counts.

    As many of them as `window` says, one more where that is even, so that it lies in their middle; fewer at the ends.
    A count of NaN weighs as much as the others do on average. Values that are not finite are passed over; where none
    is left in the window it is NaN.

    >>> smoothed(np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 1.0]), 3).tolist()
    [1.5, 3.0, 4.0]
    """
    if not len(values):
        return values
    width = min(max(len(values) // PART, 1), WIDEST) if window is None else window
    half = min(width // 2, len(values) - 1)
    known = np.isfinite(counts)
    weights = np.where(known, counts, counts[known].mean() if known.any() else 1.0)
    weights = np.where(np.isfinite(values), weights, 0.0)
    # Not by differences of running sums, which one loss of 1e20 would spoil for all that follow.
    kernel = np.ones(2 * half + 1)
    sums, totals = (
        np.convolve(one, kernel)[half : half + len(values)]
        for one in (np.where(weights > 0, values, 0.0) * weights, weights)
    )
    found = np.full(len(values), np.nan)
    np.divide(sums, totals, out=found, where=totals > 0)
    return found
