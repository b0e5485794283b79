"""One sample by its id, and its columns as facts: its value, and how it lies among all where it is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.errors import did_you_mean
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations import Loaded
from cutaway.studio.wire.sample import Fact

__all__ = ["facts_of", "rank_of", "row_of", "text_at", "value_at"]

_LONGEST = 10_000
# Comparing a name with a million others would take longer than typing it again.
_MOST_COMPARED = 5_000


def row_of(loaded: Loaded, sample: str) -> int:
    """Return the row of a sample; refused where there is no such one."""
    row = loaded.row_of(sample)
    if row is None:
        near = did_you_mean(sample, [str(one) for one in loaded.ids[:_MOST_COMPARED].to_pylist()])
        first = loaded.ids[0].as_py() if len(loaded) else "none"
        error = f"No sample {sample!r} in evaluation {loaded.number} of run {loaded.run.name!r}."
        raise Refusal(404, "sample-unavailable", error, near.strip() or f"The first is {first!r}.")
    return row


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
    """Return what is in a column as text."""
    value = value_at(loaded, name, row)
    return None if value is None else str(value)


def value_at(loaded: Loaded, name: str, row: int) -> Any:
    """Return what is in a column; None where there is no such column, or nothing in it."""
    return loaded.column(name)[row].as_py() if name in loaded.column_names else None


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
