"""Columns as bins: which values a condition can tell apart. Knows neither the outcome nor how conditions are written.

Numbers become a line of at most `FINE` bins with about as many rows each; texts, and yes and no, become a bin for each
value that enough rows have. Rows without a value have a bin of their own where a condition can say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Array, BoolArray, Int64Array

__all__ = ["COARSE", "FINE", "Box", "Feature", "Part", "box_rows", "featured"]


# Numbers are cut this finely for conditions on one column and for the ends of a condition, ...
FINE = 100
# ... and this finely while all pairs of columns are looked at.
COARSE = 12
# Of a column of texts, so many of the most common values are looked at.
MOST_VALUES = 100
# "Not one of these" says that a text is missing; with more values than this nobody would read it.
MOST_NAMED = 12

Part = tuple[int, int, int]
"""A feature's place and the bins from (included) and to (excluded) that a condition holds."""
Box = tuple[Part, ...]
"""Conditions that hold together."""


@dataclass(frozen=True)
class Feature:
    """A column in bins.

    `codes` is the bin of each row; one that is `bins` belongs to no condition. The first `ordered` bins are stretches
    of a number line, from `lows` to `highs`; the others stand for one of `values` each, None for a missing value.
    `coarse` are the bins at which the coarser bins of the line begin, and its end.
    """

    name: str
    codes: Int64Array
    bins: int
    ordered: int
    lows: Array
    highs: Array
    values: tuple[Any, ...]
    coarse: Int64Array

    @property
    def fine_parts(self) -> Int64Array:
        """Every stretch of bins that a condition can hold, as (from, to): not the whole line."""
        return _stretches(np.arange(self.ordered + 1), self.bins)

    @property
    def coarse_parts(self) -> Int64Array:
        """The same of coarser bins."""
        return _stretches(self.coarse, self.bins)


def _stretches(edges: Int64Array, bins: int) -> Int64Array:
    first, last = np.triu_indices(len(edges), 1)
    proper = (last - first) < len(edges) - 1
    line = np.stack([edges[first[proper]], edges[last[proper]]], 1)
    single = np.arange(int(edges[-1]), bins)
    return np.concatenate([line, np.stack([single, single + 1], 1)]).astype(np.int64)


def box_rows(features: Sequence[Feature], box: Box) -> BoolArray:
    """Return which rows lie in a box."""
    rows = np.ones(len(features[box[0][0]].codes), np.bool_)
    for place, low, high in box:
        codes = features[place].codes
        rows &= (codes >= low) & (codes < high)
    return rows


def featured(name: str, column: pa.ChunkedArray, fewest: int) -> Feature | str:
    """Return a column in bins of at least `fewest` rows, or why it is left out."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if column.null_count == len(column):
        return "it has no values"
    if pa.types.is_boolean(kind):
        return _named(name, column, fewest)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _named(name, column.cast(pa.large_string()), fewest)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbered(name, column, fewest)
    return f"it holds {kind}"


def _named(name: str, column: pa.ChunkedArray, fewest: int) -> Feature | str:
    encoded = pc.dictionary_encode(column.combine_chunks())
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    places = np.asarray(pc.fill_null(encoded.indices, -1), np.int64)
    known = encoded.dictionary.to_pylist()
    counts = np.bincount(places[places >= 0], minlength=len(known))
    missing = int((places < 0).sum())
    if len(known) == 1 and not missing:
        return "it has one value only"
    common = [int(one) for one in np.argsort(-counts, kind="stable")[:MOST_VALUES] if counts[one] >= fewest]
    values: list[Any] = [known[one] for one in common]
    said = missing >= fewest and len(known) <= MOST_NAMED and all(map(_listable, known))
    if not common and not said:
        return f"none of its {len(known):,} values is that of {fewest:,} samples"
    bins = len(common) + said
    numbers = np.full(len(known) + 1, bins, np.int64)
    numbers[common] = np.arange(len(common))
    if said:
        values.append(None)
        numbers[-1] = bins - 1
    codes = numbers[places]
    # The other names are needed to say that none of them is there.
    listed = np.array(sorted(map(str, known)) if said else [], object)
    return Feature(name, codes, bins, 0, listed, listed, tuple(values), np.zeros(1, np.int64))


def _listable(value: Any) -> bool:
    """Whether a value can stand in a list of values, which takes off spaces, quotes and brackets."""
    plain = not isinstance(value, str) or (value.strip() == value and value != "" and value.isprintable())
    return plain and not str(value).startswith(("'", '"', "(", "["))


def _numbered(name: str, column: pa.ChunkedArray, fewest: int) -> Feature | str:
    numbers, known = _plain_numbers(column)
    values, counts = np.unique(numbers[known], return_counts=True)
    missing = int((~known).sum())
    if not len(values):
        return "it has no values"
    if len(values) == 1 and not missing:
        return "it has one value only"
    if _counts_rows(values, len(numbers)):
        return "it numbers the samples"
    begins = _begins(counts, FINE)
    ordered = len(begins)
    highs = values[np.append(begins[1:], len(values)) - 1]
    said = missing >= fewest
    codes = np.full(len(numbers), ordered, np.int64)
    codes[known] = np.searchsorted(highs, numbers[known], "left")
    masses = np.bincount(codes[known], minlength=ordered)
    coarse = np.append(_begins(masses, COARSE), ordered)
    return Feature(name, codes, ordered + said, ordered, values[begins], highs, (None,) * said, coarse)


def _plain_numbers(column: pa.ChunkedArray) -> tuple[Array, BoolArray]:
    """Return numbers in a type that tells them all apart, and which are there."""
    if pa.types.is_integer(column.type):
        known = ~np.asarray(column.is_null(), np.bool_)
        return np.asarray(pc.fill_null(column, 0)), known
    numbers = np.asarray(pc.cast(column, pa.float64(), safe=False).fill_null(np.nan), np.float64) + 0.0
    return numbers, ~np.isnan(numbers)


def _counts_rows(values: Array, rows: int) -> bool:
    """Whether whole numbers are a row of consecutive ones, a sample each: an id, not a property."""
    whole = np.issubdtype(values.dtype, np.integer) and len(values) > FINE
    return bool(whole and len(values) == rows and int(values[-1]) - int(values[0]) == rows - 1)


def _begins(counts: Int64Array, most: int) -> Int64Array:
    """Return where at most so many stretches of about the same count begin; each holds at least one place."""
    if len(counts) <= most:
        return np.arange(len(counts))
    before = np.cumsum(counts) - counts
    middle = before + (counts - 1) / 2
    stretch = np.floor(middle * most / counts.sum()).astype(np.int64)
    return np.flatnonzero(np.diff(stretch, prepend=-1))
