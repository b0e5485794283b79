"""The table of runs as it travels: rows, pages and columns. Reads no run; what it gets is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from cutaway.studio.index import IndexedRun, RunTable
from cutaway.studio.index.run_table import group_of, kind_of, title_of
from cutaway.studio.index.values import Value
from cutaway.studio.wire.base import Page
from cutaway.studio.wire.runs import RunColumn, RunRow

__all__ = ["columns_of", "page_of_runs", "run_row"]

MOST_DIFFERENT = 100


def page_of_runs(
    table: RunTable, *, search: str, where: Sequence[str], sort: str, columns: Sequence[str], offset: int, limit: int
) -> Page[RunRow]:
    """Return a part of the runs that match, sorted, with the cells that were asked for."""
    chosen = table.select(search, where, sort)
    cells = {name: table.column(name) for name in columns}
    rows = [
        run_row(table.rows[i], {name: values[i] for name, values in cells.items()})
        for i in chosen[offset : offset + limit]
    ]
    return Page(data=rows, total=len(chosen), offset=offset, limit=limit)


def run_row(facts: IndexedRun, cells: dict[str, Value] | None = None) -> RunRow:
    """Return one run as it travels."""
    told = {name: getattr(facts, name) for name in RunRow.model_fields if name != "cells"}
    return RunRow.model_validate({**told, "cells": cells or {}}, from_attributes=True)


# A page asks for the columns again and again, and a table never changes.
@lru_cache(maxsize=1)
def columns_of(table: RunTable) -> list[RunColumn]:
    """Return every column of the table, with how many runs have a value and how these lie."""
    return [_column(name, table.known_values(name)) for name in table.names]


def _column(name: str, values: list[Value]) -> RunColumn:
    kind = kind_of(name, values)
    numbers = cast("list[float]", values) if kind in ("number", "time") else []
    return RunColumn(
        name=name,
        title=title_of(name),
        group=group_of(name),
        kind=kind,
        runs=len(values),
        min=min(numbers, default=None),
        max=max(numbers, default=None),
        different=min(len(set(values)), MOST_DIFFERENT),
    )
