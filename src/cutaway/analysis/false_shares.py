"""How much of what is found is chance, when many are looked at: Benjamini and Hochberg's correction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["false_shares"]

Doubles = npt.NDArray[np.float64]


def false_shares(expected: Doubles) -> Doubles:
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
