"""Reads the columns that slices are looked for in, and says which are left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cutaway.analysis.slices.features import Feature, featured
from cutaway.analysis.slices.outcome import ANALYSIS
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["Columns", "as_table", "features_of"]

Columns: TypeAlias = pa.Table | Mapping[str, Any]
# So many columns that are left out for one reason are named.
NAMED = 5


def as_table(columns: Columns) -> tuple[pa.Table, dict[str, str]]:
    """Return columns as a table, and why some of them cannot be in it. Raises where none is left."""
    table, refused = _as_table(columns)
    if not table.num_columns:
        raise _nothing(refused)
    return table, refused


def _as_table(columns: Columns) -> tuple[pa.Table, dict[str, str]]:
    refused: dict[str, str] = {}
    if isinstance(columns, pa.Table):
        names = columns.column_names
        double = {name for name in names if names.count(name) > 1}
        kept = [place for place, name in enumerate(names) if name not in double]
        return columns.select(kept), dict.fromkeys(sorted(double), "several columns have its name")
    if not isinstance(columns, Mapping):
        raise ConfigurationError(
            f"`columns` must be a pyarrow Table or a mapping of names to values, but is {type(columns).__name__}."
        )
    arrays: dict[str, Any] = {}
    for name, values in columns.items():
        try:
            arrays[name] = _array(values)
        except (pa.ArrowException, TypeError, ValueError):
            refused[name] = "its values are of several types, or several for each sample"
    lengths = {name: len(one) for name, one in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length:,}" for name, length in list(lengths.items())[:NAMED])
        raise ConfigurationError(f"All columns must have as many values, but {told}.")
    return pa.table(arrays), refused


def _array(values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    plain = values if isinstance(values, list | tuple) else np.asarray(values)
    mixed = isinstance(plain, np.ndarray) and plain.dtype == object
    return pa.array(plain, from_pandas=mixed)


def features_of(table: pa.Table, refused: Mapping[str, str], fewest: int) -> tuple[list[Feature], tuple[str, ...]]:
    """Return the columns that conditions can be about, and what there is to say of the others."""
    found: list[Feature] = []
    reasons = dict(refused)
    for name in table.column_names:
        one = featured(name, table[name], fewest)
        if isinstance(one, str):
            reasons[name] = one
        else:
            found.append(one)
    if not found:
        raise _nothing(reasons)
    return found, _notes(reasons)


def _nothing(reasons: Mapping[str, str]) -> AnalysisUnavailable:
    why = " ".join(_notes(reasons)) or "There are no columns."
    return AnalysisUnavailable(ANALYSIS, "no column can tell samples apart.", hint=why)


def _notes(reasons: Mapping[str, str]) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        by_reason.setdefault(reason, []).append(name)
    return tuple(_note(names, reason) for reason, names in by_reason.items())


def _note(names: list[str], reason: str) -> str:
    if len(names) == 1:
        return f"Column {names[0]!r} is left out: {reason}."
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    told = ", ".join(map(repr, names[:NAMED]))
    return f"Columns {told}{more} are left out, each because {reason}."
