"""What can be said of a group against the rest, as yes-or-no splits of the samples, each tested exactly.

A column of categories gives a split for each common value, yes and no give one, and numbers give "above" some of their
quantiles. The number of samples inside a group that lie on the yes side is then hypergeometric, whatever the column's
distribution, if the group has nothing to do with the column. All splits and groups together are held to one bound
(Holm's): groups that have nothing to do with any column get a difference in at most 5 % of descriptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.libraries import library
from cutaway.analysis.statistics.false_shares import holm
from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["FALSE_ALARMS", "Split", "Tested", "compare_splits", "splits_of"]

# How often anything at all is found where there is nothing.
FALSE_ALARMS = 0.05
# A value that fewer samples have, or that is not among so many of the most common, is not looked at.
FEWEST, MOST_VALUES = 5, 200
QUANTILES = (0.1, 0.5, 0.9)
# Standard deviations below which the exact figure cannot matter.
SCREEN = 2.5

_Figures = Float64Array


@dataclass(frozen=True)
class Split:
    """The samples that have a value, parted in two: which of them are on the yes side, and what that means."""

    column: str
    kind: str  # number, yes-no or category
    value: str | None
    known: BoolArray
    yes: BoolArray


@dataclass(frozen=True)
class Tested:
    """A split against each cluster: shares on the yes side inside and outside, and where the difference is real."""

    column: str
    kind: str
    value: str | None
    counts: Int64Array
    inside: _Figures
    outside: _Figures
    score: _Figures
    chances: _Figures
    differs: BoolArray


def splits_of(name: str, column: pa.ChunkedArray) -> Iterator[Split]:
    """Yield the splits of a column; none for what is nested, constant, or has no value that is common enough."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    known = ~np.asarray(column.is_null(), bool)
    if pa.types.is_boolean(kind):
        yes = np.asarray(pc.fill_null(column, fill_value=False), bool)
        found = iter([Split(name, "yes-no", None, known, yes)])
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        found = _above(name, np.asarray(column.cast(pa.float64()).fill_null(np.nan), np.float64))
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        found = _values(name, column, known)
    else:
        return
    yield from (one for one in found if FEWEST <= one.yes.sum() <= one.known.sum() - FEWEST)


def _above(name: str, numbers: Float64Array) -> Iterator[Split]:
    known = np.isfinite(numbers)
    if not known.any():
        return
    before: set[int] = set()
    for cut in np.quantile(numbers[known], QUANTILES):
        # Where many values equal the cut, they go to the side that leaves the two sides less unequal.
        above, least = known & (numbers > cut), known & (numbers >= cut)
        yes = min((above, least), key=lambda side: abs(2 * int(side.sum()) - int(known.sum())))
        if int(yes.sum()) not in before:
            before.add(int(yes.sum()))
            yield Split(name, "number", None, known, yes)


def _values(name: str, column: pa.ChunkedArray, known: BoolArray) -> Iterator[Split]:
    encoded = column.combine_chunks().dictionary_encode()
    codes = np.asarray(pc.fill_null(encoded.indices, -1), np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary))
    for code in np.argsort(-counts, kind="stable")[:MOST_VALUES]:
        if counts[code] >= FEWEST:
            yield Split(name, "category", str(encoded.dictionary[int(code)]), known, codes == code)


def compare_splits(splits: Iterable[Split], labels: Int64Array, count: int) -> list[Tested]:
    """Return each split against each of `count` clusters; samples in none belong to the rest of every cluster."""
    # One split at a time: those of all values of all columns together would fill gigabytes.
    found = [_compared(split, labels, count) for split in splits]
    if not found:
        return []
    real = holm(np.concatenate([one.chances for one in found])) <= FALSE_ALARMS
    return [replace(one, differs=part) for one, part in zip(found, np.split(real, len(found)), strict=True)]


def _compared(split: Split, labels: Int64Array, count: int) -> Tested:
    members, hits = (np.bincount(labels[side & (labels >= 0)], minlength=count) for side in (split.known, split.yes))
    total, yes = int(split.known.sum()), int(split.yes.sum())
    others = total - members
    with np.errstate(invalid="ignore", divide="ignore"):
        inside, outside = hits / members, (yes - hits) / others
    chances = np.ones(count)
    spread = np.sqrt(np.maximum(members * (yes / total) * (1 - yes / total) * others / max(total - 1, 1), 1e-300))
    looked = (members > 0) & (others > 0) & (np.abs(hits - members * yes / total) > SCREEN * spread)
    if looked.any():
        chances[looked] = _chance(hits[looked], total, yes, members[looked])
    none = np.zeros(count, bool)
    score = _information(hits, members, yes, total)
    return Tested(split.column, split.kind, split.value, members, inside, outside, score, chances, none)


def _chance(hits: Int64Array, total: int, yes: int, members: Int64Array) -> _Figures:
    """Return how probable so large a difference is by chance, on either side."""
    hypergeom = library("scipy.stats", "Describing clusters").hypergeom
    # A lower tail is the upper one of what is not hit; `cdf` would take 1 less for certain.
    more = hypergeom.sf(hits - 1, total, yes, members)
    fewer = hypergeom.sf(members - hits - 1, total, total - yes, members)
    return np.asarray(np.clip(2 * np.minimum(more, fewer), 0.0, 1.0), np.float64)


def _information(hits: Int64Array, members: Int64Array, yes: int, total: int) -> _Figures:
    """Return how much of the doubt about who is in a cluster a split settles: 0 is nothing, 1 all of it."""
    cells = np.stack([hits, members - hits, yes - hits, total - yes - members + hits]).astype(np.float64) / max(
        total, 1
    )
    rows, columns = (
        np.stack([cells[0] + cells[1], cells[2] + cells[3]]),
        np.stack([cells[0] + cells[2], cells[1] + cells[3]]),
    )
    shared = _entropy(rows) + _entropy(columns) - _entropy(cells)
    doubt = _entropy(rows)
    return np.asarray(np.clip(np.where(doubt > 0, shared / np.where(doubt > 0, doubt, 1.0), 0.0), 0.0, 1.0))


def _entropy(shares: _Figures) -> _Figures:
    safe = np.where(shares > 0, shares, 1.0)
    return np.asarray(-(safe * np.log2(safe)).sum(axis=0))
