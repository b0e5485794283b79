"""Puts numbers into bins, and sums up another column bin by bin. The order of the rows changes nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.analysis.statistics.intervals import mean_interval, share_interval
from cutaway.arrays import Float64Array, IndexArray, Int64Array

__all__ = ["bin_numbers", "summed_up"]


def bin_numbers(x: Float64Array, bins: int) -> Int64Array:
    """Return the bin of each number, counted from 0 in their order; equal numbers share a bin, and none is empty.

    Bins have about as many rows each. Of numbers with no more than `bins` different values each is a bin of its own.
    """
    values, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    if len(values) <= bins:
        return np.asarray(places, np.int64)
    return _equal_counts(counts, bins)[places]


def summed_up(key: Int64Array, y: Float64Array, *, yes_no: bool) -> dict[str, npt.NDArray[np.generic]]:
    """Return one row for each different `key`, ascending: key, count, mean, median, min, max, low and high of `y`.

    `low` and `high` are a 95 % interval of the mean: Wilson's where `y` is yes or no, else Student's.
    """
    order = np.lexsort((y, key))
    keys, starts, counts = np.unique(key[order], return_index=True, return_counts=True)
    ordered = y[order]
    ends = starts + counts
    # Numbers near the largest that there is may sum to infinity, which is then what the table says.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        means = np.add.reduceat(ordered, starts) / counts
        squares = np.add.reduceat((ordered - np.repeat(means, counts)) ** 2, starts)
        deviations = np.sqrt(squares / (counts - 1))
        medians = 0.5 * ordered[starts + (counts - 1) // 2] + 0.5 * ordered[starts + counts // 2]
        low, high = share_interval(means * counts, counts) if yes_no else mean_interval(means, deviations, counts)
    return {
        "key": keys,
        "count": counts,
        "mean": means,
        "median": medians,
        "min": ordered[starts],
        "max": ordered[ends - 1],
        "low": low,
        "high": high,
    }


def _equal_counts(counts: IndexArray, bins: int) -> Int64Array:
    """Return the bin of each different value, given how often it occurs.

    A value that fills several bins alone takes one, and the rest is shared out anew: quantiles would lose those bins.
    """
    reached = np.cumsum(counts)
    rows, done, first = int(reached[-1]), 0, 0
    lasts = []
    for remaining in range(bins, 0, -1):
        if first == len(counts):
            break
        target = done + (rows - done) / remaining
        last = min(int(np.searchsorted(reached, target)), len(counts) - 1)
        if last > first and target - reached[last - 1] <= reached[last] - target:
            last -= 1
        lasts.append(last)
        done, first = int(reached[last]), last + 1
    return np.asarray(np.searchsorted(lasts, np.arange(len(counts))), np.int64)
