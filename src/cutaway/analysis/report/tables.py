"""Tables of a report: numbers to the right, texts to the left, long ones folded away and cut. Chooses no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from cutaway.analysis.figures.packing import is_number
from cutaway.analysis.report.texts import cells, html, word

__all__ = ["facts_list", "folded", "rows_table", "table_of"]


def table_of(table: pa.Table, *, most_rows: int, most_text: int) -> str:
    """Return the first rows of a table as HTML, and a line that says how many more there are."""
    shown = table.slice(0, most_rows)
    columns = [(name, shown.column(place)) for place, name in enumerate(shown.column_names)]
    right = [is_number(column) for _, column in columns]
    heads = [(name, number) for (name, _), number in zip(columns, right, strict=True)]
    rows = zip(*(cells(column) for _, column in columns), strict=True)
    body = "".join(_row(row, right, most_text) for row in rows)
    more = table.num_rows - shown.num_rows
    rest = f'<p class="quiet">and {more:,} more rows</p>' if more > 0 else ""
    return rows_table("Table", heads, body) + rest


def rows_table(label: str, heads: Sequence[tuple[str, bool]], body: str, kind: str = "") -> str:
    """Return rows of HTML as a table that scrolls by itself; of each head whether numbers are below it."""
    named = "".join(f'<th scope="col"{_side(number)}>{html(name, 80)}</th>' for name, number in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html(label)}"><table class="{kind}">'
        f"<thead><tr>{named}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def folded(summary: str, inside: str) -> str:
    """Return something long that opens when it is asked for."""
    return f"<details><summary>{html(summary)}</summary>{inside}</details>"


def facts_list(facts: Sequence[tuple[str, Any]], most_text: int = 160) -> str:
    """Return pairs of a name and a value as a list."""
    pairs = "".join(f"<div><dt>{html(name, 80)}</dt><dd>{word(value, most_text)}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{pairs}</dl>' if pairs else ""


def _row(row: Sequence[Any], right: Sequence[bool], most_text: int) -> str:
    filled = "".join(
        f"<td{_side(number)}>{'' if value is None else word(value, most_text)}</td>"
        for value, number in zip(row, right, strict=True)
    )
    return f"<tr>{filled}</tr>"


def _side(number: bool) -> str:  # noqa: FBT001 - one fact of a column
    return ' class="number"' if number else ""
