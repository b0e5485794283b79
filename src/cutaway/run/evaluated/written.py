"""Tables of the subsets of an evaluation: refuses what Cutaway did not write, and joins what did not come out alike.

A run may come from anybody, and metadata of two subsets may differ in type though one encoder gave them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import EvaluationError
from cutaway.run.evaluated.columns import METADATA

__all__ = ["as_written", "joined_tables"]

_NUMBERS = ("loss", "loss.", "metric.")


def as_written(table: pa.Table, subset: str, labels: Sequence[str]) -> pa.Table:
    """Return a subset's table, or some columns, as analyses take it, metadata as plain values; `labels` hold classes.

    Raises `EvaluationError` where ids, losses, metrics or labels are not what Cutaway writes.
    """
    for field in table.schema:
        if not _is_written(field, labels):
            _refuse(subset, f"{field.name} holds {field.type}")
    if "id" in table.column_names:
        ids = table["id"]
        if ids.null_count or len(pc.unique(ids)) < len(ids):
            _refuse(subset, "not every sample has an id of its own")
    for place, name in enumerate(table.column_names):
        if name.startswith(METADATA) and not _is_plain(table[name].type):
            table = table.set_column(place, name, _texts(table[name]))
    return table


def joined_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of several tables; metadata whose types do not go together become texts."""
    types: dict[str, list[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            types.setdefault(field.name, []).append(field.type)
    apart = {name for name, each in types.items() if name.startswith(METADATA) and not _go_together(each)}
    alike = []
    for table in tables:
        for place, name in enumerate(table.column_names):
            if name in apart and not pa.types.is_null(table[name].type):
                table = table.set_column(place, name, _texts(table[name]))  # noqa: PLW2901 - a copy with one column new
        alike.append(table)
    return pa.concat_tables(alike, promote_options="permissive")


def _is_written(field: pa.Field, labels: Sequence[str]) -> bool:
    name, kind = field.name, field.type
    if pa.types.is_null(kind):
        return bool(name != "id")
    if name in ("id", "error", "hash"):
        return bool(pa.types.is_string(kind))
    if name in labels:
        return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind))
    if name == _NUMBERS[0] or name.startswith(_NUMBERS[1:]):
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))
    return True


def _is_plain(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _go_together(types: Sequence[pa.DataType]) -> bool:
    try:
        pa.unify_schemas([pa.schema([("one", kind)]) for kind in types], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([None if one is None else str(one) for one in column.to_pylist()], pa.string())])


def _refuse(subset: str, what: str) -> None:
    raise EvaluationError(f"The table of {subset!r} is not as Cutaway writes it: {what}.", hint="Evaluate again.")
