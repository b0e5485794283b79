"""Columns of one sample as facts: its value, and how it lies among all samples where it is a number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.studio.populations import Loaded
from cutaway.studio.wire.sample import Fact

__all__ = ["facts_of", "rank_of", "text_at"]

_LONGEST = 10_000


def facts_of(loaded: Loaded, row: int, beginnings: tuple[str, ...]) -> list[Fact]:
    """Return the columns whose names begin so, without that beginning."""
    found = []
    for name in loaded.own_columns:
        beginning = next((one for one in beginnings if name.startswith(one)), None)
        if beginning is not None:
            column = loaded.column(name)
            shown = name.removeprefix(beginning) if beginning != "loss." else name
            found.append(Fact(name=shown, value=_value_at(column, row), rank=rank_of(column, row)))
    return found


def text_at(loaded: Loaded, name: str, row: int) -> str | None:
    """Return the text in a column; None where there is no such column, or nothing in it."""
    if name not in loaded.column_names:
        return None
    value = loaded.column(name)[row].as_py()
    return None if value is None else str(value)


def _value_at(column: pa.ChunkedArray, row: int) -> str | float | bool | None:
    value = column[row].as_py()
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, bool | int) else str(value)[:_LONGEST]


def rank_of(column: pa.ChunkedArray, row: int) -> float | None:
    """Return the share of samples with a smaller value, of those that have one."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)) or not column[row].is_valid:
        return None
    values = np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(), np.float64)
    finite = np.isfinite(values)
    if not finite[row]:
        return None
    return float((values[finite] < values[row]).sum() / finite.sum())
