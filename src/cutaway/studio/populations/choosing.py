"""Which rows are meant: by conditions, by a lasso on the map, by names, by a text; and in which order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.neighbours.similar import rows_in_region
from cutaway.analysis.samples import LABEL, LOSS, PREDICTION
from cutaway.arrays import BoolArray, IndexArray
from cutaway.errors import ConfigurationError
from cutaway.studio.populations.coding import numbers
from cutaway.studio.populations.derived import SUGGESTED
from cutaway.studio.populations.described import is_searched
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.points import shown_map

__all__ = ["chosen_rows", "parse_lasso", "rows_with", "sorted_rows"]

Corners = Sequence[Sequence[float]]
MOST_CORNERS = 200
_CLASSES = (LABEL, PREDICTION, SUGGESTED)


def parse_lasso(text: str) -> list[tuple[float, float]]:
    """Return the corners that a text says: `x,y x,y x,y`; of a box two opposite ones. None where it is empty."""
    corners = []
    for one in text.split():
        x, comma, y = one.partition(",")
        try:
            corner = float(x), float(y)
        except ValueError:
            corner = math.nan, math.nan
        if not comma or not all(math.isfinite(number) for number in corner):
            raise ConfigurationError(f"A lasso is corners such as `1,2 3,2 3,4`, but {one[:50]!r} is none.")
        corners.append(corner)
    if len(corners) == 1 or len(corners) > MOST_CORNERS:
        raise ConfigurationError(f"A lasso has 2 to {MOST_CORNERS} corners, but this one has {len(corners)}.")
    return corners


def chosen_rows(loaded: Loaded, where: Sequence[str], lasso: Corners, samples: Sequence[str] = ()) -> BoolArray:
    """Return which rows fulfil all conditions, lie inside the lasso, and are among those named; each where given."""
    mask = loaded.where(where)
    if len(lasso):
        mask &= _inside(loaded, lasso)
    if samples:
        named = np.zeros(len(loaded), np.bool_)
        named[list(loaded.rows_of(samples).values())] = True
        mask &= named
    return mask


def rows_with(loaded: Loaded, text: str) -> BoolArray:
    """Return the rows that have a text in their id or in a column of texts, whatever its case."""
    lowered = loaded.remembered("lowered ids", None, lambda: pc.utf8_lower(loaded.ids))
    found = np.array(pc.match_substring(lowered, text.lower()))
    for name in loaded.column_names:
        if is_searched(loaded, name):
            found |= _rows_having(loaded.column(name), text)
    return found


def _rows_having(column: pa.ChunkedArray, text: str) -> BoolArray:
    """Look at each different value once: most columns of texts have few."""
    encoded = pc.dictionary_encode(column.combine_chunks())
    matching = np.append(np.asarray(pc.match_substring(encoded.dictionary, text, ignore_case=True)), False)
    return np.asarray(matching[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)], np.bool_)


def sorted_rows(loaded: Loaded, mask: BoolArray, sort: str) -> IndexArray:
    """Return the rows of a mask sorted by a column, those without a value last; with a '-' before it, descending."""
    name = sort.removeprefix("-")
    if not name or (name == LOSS and LOSS not in loaded.own_columns):
        return np.flatnonzero(mask)
    # The last order alone is remembered: whoever pages on asks for the same.
    stamp = (sort, loaded.column_stamp(name) if name in loaded.column_names else None)
    order = loaded.remembered("sorted", stamp, lambda: _order(loaded, name, descending=sort.startswith("-")))
    return np.asarray(order[mask[order]], np.intp)


def _order(loaded: Loaded, name: str, *, descending: bool) -> npt.NDArray[np.uint32]:
    column = _sortable(loaded, name)
    found = pc.array_sort_indices(column, order="descending" if descending else "ascending", null_placement="at_end")
    return np.asarray(found.to_numpy(), np.uint32)


def _sortable(loaded: Loaded, name: str) -> pa.Array:
    """Return a column by which Arrow can sort, NaN as null; classes by their order, not by their names."""
    column = loaded.column(name)
    if name in _CLASSES and loaded.classes:
        codes = pc.index_in(column, value_set=pa.array(loaded.classes, column.type))
        return codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    if pa.types.is_boolean(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return pa.array(numbers(column), from_pandas=True)
    return column.combine_chunks()


def _inside(loaded: Loaded, lasso: Corners) -> BoolArray:
    positions = shown_map(loaded).positions
    corners = np.asarray(lasso, np.float64)
    with np.errstate(invalid="ignore"):
        near = ((positions >= corners.min(axis=0)) & (positions <= corners.max(axis=0))).all(axis=1)
    rows = np.flatnonzero(near)
    inside = np.zeros(len(positions), np.bool_)
    # Whatever lies outside of the box around a lasso is not inside of it, and each corner costs a look at all.
    inside[rows] = rows_in_region(positions[rows], corners)
    return inside
