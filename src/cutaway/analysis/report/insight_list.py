"""Insights as a list: the words, how the slice compares with the rest, what to do about it, and a sample of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cutaway.analysis.figures.words import number
from cutaway.analysis.report.cards import Room, first_rows, picture_html
from cutaway.analysis.report.drawing import share
from cutaway.analysis.report.pictures import Album
from cutaway.analysis.report.texts import html

__all__ = ["insight_list"]

MOST_INSIGHTS = 24


def insight_list(table: pa.Table, album: Album, room: Room) -> str:
    """Return the gravest insights of their table; columns that it lacks are left out."""
    rows = first_rows(table, min(MOST_INSIGHTS, room.rows))
    shown = "".join(_insight(row, album, room) for row in rows)
    more = table.num_rows - len(rows)
    rest = f'<p class="quiet">and {more:,} more in the table</p>' if more > 0 else ""
    return f'<ul class="insights">{shown}</ul>{rest}' if shown else ""


def _insight(row: Mapping[str, Any], album: Album, room: Room) -> str:
    sample = str(row.get("sample") or "")
    picture = picture_html(album.of(sample), sample) if album and sample and not album.of(sample).reason else ""
    kind = f'<span class="badge">{html(str(row["kind"]), 40)}</span>' if row.get("kind") else ""
    where = f"<code>{html(str(row['where']), room.text)}</code>" if row.get("where") else ""
    steps = "".join(
        f'<p class="quiet">{html(str(row[name]), 2 * room.text)}</p>' for name in ("action", "buys") if row.get(name)
    )
    told = html(str(row.get("reason") or ""), 3 * room.text)
    return f'<li><div class="told">{kind} {where}<p>{told}</p>{_compared(row)}{steps}</div>{picture}</li>'


def _compared(row: Mapping[str, Any]) -> str:
    """Return the measure inside and outside as two bars of one scale."""
    inside, outside = _finite(row.get("inside")), _finite(row.get("outside"))
    if inside is None or outside is None:
        return ""
    largest = max(abs(inside), abs(outside)) or 1.0
    measure = html(str(row.get("measure") or ""), 40)
    bars = "".join(
        f"<span>{word}</span>{share(abs(value) / largest)}<span>{number(value)}</span>"
        for word, value in (("there", inside), ("elsewhere", outside))
    )
    return f'<div class="compared"><span class="measure">{measure}</span>{bars}</div>'


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
