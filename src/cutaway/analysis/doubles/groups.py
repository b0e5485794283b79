"""Which samples belong together when pairs of them do, which one of them is kept, and how their table looks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cutaway.arrays import Int64Array

__all__ = ["PAIR_COLUMNS", "Groups", "best_first"]


# Held-out samples stay: a metric is compared with that of earlier runs, and training can do without a copy.
ORDER = ("test", "validation", "training")
# What whoever reads a table of pairs counts on beside sample, score and reason.
PAIR_COLUMNS = {
    **dict.fromkeys(("other", "kind", "subset", "other_subset"), pa.string()),
    "distance": pa.float64(),
    "group": pa.int64(),
}


class Groups:
    """Rows in groups that grow by joining two of them; a row that was never joined is a group of its own."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))

    def of(self, row: int) -> int:
        """Return the row that stands for the group of `row`."""
        while self._parents[row] != row:
            self._parents[row] = row = self._parents[self._parents[row]]
        return row

    def join(self, one: int, other: int) -> bool:
        """Join two groups. Return whether they were two.

        >>> groups = Groups(3)
        >>> groups.join(0, 2), groups.join(2, 0), groups.of(2) == groups.of(0) != groups.of(1)
        (True, False, True)
        """
        first, second = sorted((self.of(one), self.of(other)))
        self._parents[second] = first
        return first != second


def best_first(subsets: Sequence[str | None]) -> Int64Array:
    """Return for each sample its place among those to keep: test before validation before training, then by rows."""
    ranks = np.array([ORDER.index(one) if one in ORDER else len(ORDER) for one in subsets], np.int64)
    places = np.empty(len(ranks), np.int64)
    places[np.argsort(ranks, kind="stable")] = np.arange(len(ranks))
    return places
