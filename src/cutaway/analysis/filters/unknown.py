"""Conditions that ask for what no sample has: said with the values that there are, where they would select nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.filters.condition import Filter
from cutaway.analysis.filters.matching import as_text, known_column
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.wording import listed

__all__ = ["refuse_unknown_values"]

MOST_NAMED = 10
# Comparing a value with a million others would take longer than typing it again.
MOST_COMPARED = 5_000


def refuse_unknown_values(table: pa.Table, filters: Iterable[Filter], known: Mapping[str, Collection[str]]) -> None:
    """Raise where a condition is about values of a column of texts of which no sample has any.

    `known` are values that need not occur, such as classes, by column. Conditions with `not` are fulfilled by all that
    has other values, and stay; so do those on columns without any value, and the other values of several.
    """
    for one in filters:
        if one.operator in ("equal", "in"):
            _refuse_unknown(table, one, known.get(one.column, ()))


def _refuse_unknown(table: pa.Table, condition: Filter, known: Collection[str]) -> None:
    column = known_column(table, condition.column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type) or column.null_count == len(column):
        return
    asked = [as_text(one) for one in condition.values]
    if any(one in known for one in asked) or pc.any(pc.is_in(column, value_set=pa.array(asked, column.type))).as_py():
        return
    there = list(dict.fromkeys([*known, *pc.unique(column).drop_null().slice(0, MOST_COMPARED).to_pylist()]))
    words = " or ".join(map(repr, asked[:MOST_NAMED]))
    raise ConfigurationError(
        f"No sample has {words} in column {condition.column!r}.",
        hint=f"{did_you_mean(asked[0], there)} It holds {listed([repr(one) for one in there], MOST_NAMED)}.",
    )
