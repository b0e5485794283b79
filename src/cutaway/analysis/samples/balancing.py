"""Draws a part of the samples in which the values of chosen columns are equally common. Copies no samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.samples.samples import column_of
from cutaway.arrays import BoolArray, Float64Array, IndexArray, Int64Array
from cutaway.errors import ConfigurationError

__all__ = ["balanced_rows"]

# Numbers with more values than the first are cut at quantiles, into as many parts as the second.
MOST_VALUES, PARTS = 20, 5

_Ints = Int64Array


def balanced_rows(
    table: pa.Table, by: str | Sequence[str], count: int, *, seed: int = 0, fill: bool = True
) -> IndexArray:
    """Draw `count` rows of a table in which all combinations of the columns `by` are equally common, sorted.

    A group with fewer rows than its share gives all it has. What is then missing is shared out among the others where
    `fill` says so, so that there are `count` rows, or all there are; otherwise there are fewer. A missing value is a
    value of its own. A column of numbers with more than 20 values is cut into 5 parts of equal size.

    >>> table = pa.table({"label": ["a"] * 90 + ["b"] * 10})
    >>> [int(sum(one < 90 for one in balanced_rows(table, "label", 40, fill=fill))) for fill in (True, False)]
    [30, 20]
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    if count < 1:
        raise ConfigurationError(f"`count >= 1` must hold, but got count={count}.")
    groups = np.zeros(table.num_rows, np.int64)
    for name in names:
        codes = _codes(table, name)
        # Made small again after each column, so that many columns cannot overflow.
        _, groups = np.unique(groups * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    rng = np.random.default_rng(seed)
    return _drawn(groups, _shares(np.bincount(groups), count, rng, fill=fill), rng)


def _codes(table: pa.Table, name: str) -> _Ints:
    """Return a number for each row that says which value it has."""
    column = column_of(table, name).combine_chunks()
    if pa.types.is_nested(column.type):
        raise ConfigurationError(
            f"Column {name!r} holds {column.type}.", hint="Balance by a column with one value each."
        )
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        numbers = np.asarray(pc.fill_null(column.cast(pa.float64(), safe=False), np.nan), np.float64)
        finite = np.isfinite(numbers)
        if len(np.unique(numbers[finite])) > MOST_VALUES:
            return _binned(numbers, finite)
        return np.unique(numbers, return_inverse=True)[1]
    encoded = column.dictionary_encode()
    return np.asarray(pc.fill_null(encoded.indices, len(encoded.dictionary)), np.int64)


def _binned(numbers: Float64Array, finite: BoolArray) -> _Ints:
    cuts = np.unique(np.quantile(numbers[finite], np.linspace(0, 1, PARTS + 1)[1:-1]))
    codes = np.searchsorted(cuts, numbers, side="right")
    codes[~finite] = len(cuts) + 1
    return np.asarray(codes, np.int64)


def _shares(sizes: _Ints, count: int, rng: np.random.Generator, *, fill: bool) -> _Ints:
    """Return how many rows each group gives; who gives the odd ones is drawn."""
    shares = np.zeros(len(sizes), np.int64)
    left = min(count, int(sizes.sum()))
    if not fill:
        order = rng.permutation(len(sizes))
        shares[:] = count // max(len(sizes), 1)
        shares[order[: count % max(len(sizes), 1)]] += 1
        return np.minimum(shares, sizes)
    while left:
        free = np.flatnonzero(shares < sizes)
        each = left // len(free)
        if not each:
            shares[rng.permutation(free)[:left]] += 1
            break
        # Whoever is not exhausted got the same in every round, so that they stay level.
        given = np.minimum(each, sizes[free] - shares[free])
        shares[free] += given
        left -= int(given.sum())
    return shares


def _drawn(groups: _Ints, shares: _Ints, rng: np.random.Generator) -> IndexArray:
    """Return so many rows of each group, drawn without putting back."""
    shuffled = rng.permutation(len(groups))
    ordered = shuffled[np.argsort(groups[shuffled], kind="stable")]
    sizes = np.bincount(groups, minlength=len(shares))
    place = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(ordered[place < np.repeat(shares, sizes)])
