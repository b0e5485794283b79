"""What ranked samples have in common: which rows they are, and the class or value that holds too many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.insights.chances import ALARMS
from cutaway.analysis.insights.columns import Described
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import BoolArray
from cutaway.errors import MissingExtraError

__all__ = ["Most", "above", "most_affected", "rows_named"]

# A class of which fewer are concerned is not named, nor one that is not twice as much concerned as all are.
FEWEST, TWICE = 3, 2.0


@dataclass(frozen=True)
class Most:
    """The value of a column that holds too many: `count` of its `total` samples are concerned."""

    condition: str
    count: int
    total: int


def above(ranked: Ranked, score: float) -> pa.Table:
    """Return the rows of a ranked table with at least this score."""
    scores = np.asarray(ranked.table["score"].to_numpy(), np.float64)
    return ranked.table.filter(pa.array(scores >= score))


def rows_named(samples: Samples, ids: Sequence[str]) -> BoolArray:
    """Return which rows have one of these ids."""
    wanted = set(ids)
    return np.fromiter((one in wanted for one in samples.ids), np.bool_, len(samples))


def most_affected(rows: BoolArray, among: BoolArray, columns: Sequence[Described]) -> Most | None:
    """Return the value that holds most more of `rows` than its share of `among` lets expect, or None."""
    try:
        from scipy.stats import binom
    except ImportError as error:
        raise MissingExtraError("Insights", "analysis") from error

    concerned, base = int((rows & among).sum()), int(among.sum())
    found: list[tuple[float, Most]] = []
    looks = sum(len(column.names) for column in columns)
    for column in columns:
        if column.numbers is not None:
            continue
        totals = np.bincount(column.codes[among & (column.codes >= 0)], minlength=len(column.names))
        hits = np.bincount(column.codes[rows & among & (column.codes >= 0)], minlength=len(column.names))
        for code in np.flatnonzero(hits >= FEWEST):
            count, total = int(hits[code]), int(totals[code])
            chance = float(binom.sf(count - 1, concerned, total / base)) * looks
            if chance <= ALARMS and count / total >= TWICE * concerned / base:
                found.append((chance, Most(f"{column.name} = {column.names[code]}", count, total)))
    return min(found, key=lambda one: (one[0], one[1].condition))[1] if found else None
