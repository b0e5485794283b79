"""Which corrections are safe to make: as many as keep the expected share of right ones high."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.arrays import BoolArray
from cutaway.errors import ConfigurationError

__all__ = ["accepted"]

# Below this score nothing is accepted, however sure those above it are: it is where scores are least reliable.
LEAST = 0.8


def accepted(table: pa.Table, precision: float = 0.95) -> BoolArray:
    """Return which rows of a table of mislabeled candidates to accept: the most, with this share expected to be wrong.

    Rows are taken by their score, the highest first, as long as the mean score of those taken is at least `precision`
    and their own score at least 0.8.

    >>> accepted(pa.table({"score": [0.99, 0.97, 0.85, 0.2]})).tolist()
    [True, True, False, False]
    """
    if not 0 < precision <= 1:
        raise ConfigurationError(f"`0 < precision <= 1` must hold, but got precision={precision}.")
    scores = np.asarray(table["score"].to_numpy(), np.float64)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    expected = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    # Means of descending scores descend: the first that is too low ends it. NaN is never taken.
    taken = (expected >= precision) & (ranked >= LEAST)
    found = np.zeros(len(scores), np.bool_)
    found[order[taken]] = True
    return found
