"""The rows of a table for which conditions hold. Compares as the column's type says; reads no text but values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.filters.condition import CLUSTER, Filter, plain_operator
from cutaway.analysis.samples.samples import column_of
from cutaway.arrays import BoolArray
from cutaway.errors import ConfigurationError

__all__ = ["as_text", "known_column", "rows_where"]

_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


def rows_where(table: pa.Table, filters: Iterable[Filter]) -> BoolArray:
    """Return which rows fulfil all the conditions; every row where there are none.

    A value that is missing (null or NaN) fulfils no condition but the ones with `not`, which hold exactly where the
    one without `not` does not: a sample without a label is not a 4.
    """
    mask = np.ones(table.num_rows, np.bool_)
    for one in filters:
        mask &= _matching(table, one)
    return mask


def known_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column. Raises where there is none, with the nearest names, or with how clusters come to be one."""
    if name == CLUSTER and name not in table.column_names:
        raise ConfigurationError(
            "There is no column 'cluster' yet.", hint="Find clusters first, and add what they are."
        )
    return column_of(table, name)


def _matching(table: pa.Table, condition: Filter) -> BoolArray:
    column = known_column(table, condition.column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    operator, negated = plain_operator(condition.operator)
    if pa.types.is_null(column.type):
        return np.full(table.num_rows, negated)
    if pa.types.is_nested(column.type):
        raise ConfigurationError(
            f"Column {condition.column!r} holds {column.type}.",
            hint="Conditions need one number, one text, or yes or no for each sample.",
        )
    column, values = _comparable(column, condition)
    held = pc.fill_null(_held(column, operator, values), False)  # noqa: FBT003  # pyarrow takes no keyword here
    mask = np.asarray(held.to_numpy(), np.bool_)
    return ~mask if negated else mask


def _held(column: pa.ChunkedArray, operator: str, values: pa.Array) -> pa.ChunkedArray:
    """Return where a condition holds, with nulls where there is no value. NaN is never equal, above or below."""
    if operator == "between":
        return pc.and_(pc.greater_equal(column, pc.min(values)), pc.less_equal(column, pc.max(values)))
    if operator == "greater-than":
        return pc.greater(column, values[0])
    if operator == "less-than":
        return pc.less(column, values[0])
    return pc.is_in(column, value_set=values, skip_nulls=True)


def _comparable(column: pa.ChunkedArray, condition: Filter) -> tuple[pa.ChunkedArray, pa.Array]:
    """Return a column and the values of a condition in one type."""
    kind, values = column.type, condition.values
    try:
        if pa.types.is_boolean(kind):
            return column, pa.array([_truth(one) for one in values], kind)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return _numbers(column, values)
        return column, pa.array([as_text(one) for one in values]).cast(kind)
    except (ValueError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ConfigurationError(
            f"Column {condition.column!r} holds {kind}, but the condition compares it with "
            f"{', '.join(repr(one) for one in values)}."
        ) from error


def _numbers(column: pa.ChunkedArray, values: tuple[Any, ...]) -> tuple[pa.ChunkedArray, pa.Array]:
    if pa.types.is_integer(column.type):
        try:
            # Whole numbers as such: ids may be too long for a float.
            return column, pa.array([_whole(one) for one in values], column.type)
        except (ValueError, OverflowError, pa.ArrowInvalid):
            pass  # a fraction, or more than the column could hold
    numbers = [float(one) for one in values]
    if any(math.isnan(one) for one in numbers):
        raise ValueError("NaN compares with nothing")
    narrow = pa.types.is_floating(column.type) and column.type.bit_width < 64
    # 0.1 as a person writes it is the float32 nearest to 0.1 in a column of float32.
    wanted = np.asarray(numbers, column.type.to_pandas_dtype()) if narrow else np.asarray(numbers)
    # Adding zero makes -0.0 the same as 0.0, which arrow's sets tell apart.
    return pc.add(pc.cast(column, pa.float64(), safe=False), 0.0), pa.array(wanted.astype(np.float64) + 0.0)


def as_text(value: Any) -> str:
    """Return a value as a column of texts has it: the number 4.0 is the label `4`.

    >>> as_text(4.0), as_text(4), as_text("4.0")
    ('4', '4', '4.0')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _whole(value: Any) -> int:
    number = int(value) if isinstance(value, str) else value
    if number != int(number):
        raise ValueError(f"{value!r} is not whole")
    return int(number)


def _truth(value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in (*_YES, *_NO):
        raise ValueError(f"{value!r} is neither yes nor no")
    return text in _YES
