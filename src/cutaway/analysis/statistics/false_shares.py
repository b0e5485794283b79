"""How much of what is found is chance, when many are looked at: corrections of Benjamini and Hochberg, and of Holm."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.arrays import Float64Array

__all__ = ["false_shares", "holm"]


def false_shares(expected: Float64Array) -> Float64Array:
    """Return for each candidate which share is chance, at most, of those that are as good as it or better.

    `expected` says how many candidates as good as this one or better chance alone would give: a p-value times the
    number of tests.

    >>> false_shares(np.array([0.5, 0.01, 8.0])).round(4).tolist()
    [0.25, 0.01, 1.0]
    """
    order = np.argsort(expected, kind="stable")
    shares = np.asarray(expected, np.float64)[order] / np.arange(1, len(order) + 1)
    # Who takes a worse candidate takes the better ones too, so the share never falls with the rank.
    shares = np.minimum.accumulate(shares[::-1])[::-1]
    found = np.empty(len(order))
    found[order] = np.minimum(shares, 1.0)
    return found


def holm(chances: npt.ArrayLike) -> Float64Array:
    """Return chances corrected for being the best of so many: that any of the small ones is an accident.

    >>> holm([0.01, 0.5, 0.02]).round(3).tolist()
    [0.03, 0.5, 0.04]
    """
    given = np.asarray(chances, np.float64)
    order = np.argsort(given, kind="stable")
    found = np.empty(len(given))
    found[order] = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)), 1.0)
    return found
