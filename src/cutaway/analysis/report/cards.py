"""Samples of a ranked table as pictures with a few words, one each or two side by side, and insights as a list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cutaway.analysis.figures.words import number
from cutaway.analysis.report.drawing import share
from cutaway.analysis.report.pictures import Album, Picture
from cutaway.analysis.report.texts import cells, html, name, prose
from cutaway.wording import percent

__all__ = ["Room", "first_rows", "gallery", "insight_list", "pairs", "picture_html"]

# Pictures of fewer pixels are drawn pixel by pixel, as previews of small images are meant.
PIXELATED = 65
MOST_INSIGHTS = 24


@dataclass(frozen=True)
class Room:
    """How much a report may hold: cards of each kind, rows of a table, letters of a cell, and whether figures."""

    cards: int = 36
    rows: int = 100
    text: int = 240
    figures: int = 12


def gallery(table: pa.Table, album: Album, room: Room) -> str:
    """Return the first samples of a ranked table as cards: picture, id, what it is and should be, score, reason."""
    shown = "".join(_card(row, album, room) for row in first_rows(table, room.cards))
    return f'<ul class="cards">{shown}</ul>' if shown else ""


def pairs(table: pa.Table, album: Album, room: Room) -> str:
    """Return the first pairs of a ranked table, whose second sample is in `other`, with their pictures side by side."""
    shown = "".join(_pair(row, album, room) for row in first_rows(table, max(room.cards // 2, 1)))
    return f'<ul class="cards pairs">{shown}</ul>' if shown else ""


def picture_html(picture: Picture, sample: str) -> str:
    """Return a picture, or why it cannot be shown; that costs its own place and nothing else."""
    if picture.reason:
        words = "no picture" if picture.reason == "the run has none" else f"picture cannot be shown: {picture.reason}"
        return f'<span class="missing">{html(words)}</span>'
    small = ' class="pixels"' if max(picture.width, picture.height) < PIXELATED else ""
    return f'<img{small} src="{picture.address}" alt="Sample {html(sample, 120)}" loading="lazy">'


def _card(row: Mapping[str, Any], album: Album, room: Room) -> str:
    sample = str(row.get("sample"))
    picture = picture_html(album.of(sample), sample) if album else ""
    return (
        f"<li>{picture}<b>{name(sample, 60)}</b>{_labels(row)}{_score(row)}"
        f'<span class="reason">{prose(str(row.get("reason") or ""), room.text)}</span></li>'
    )


def _pair(row: Mapping[str, Any], album: Album, room: Room) -> str:
    names = [str(row.get("sample")), str(row.get("other"))]
    sides = "".join(
        f"<div>{picture_html(album.of(one), one) if album else ''}<b>{name(one, 60)}</b></div>" for one in names
    )
    reason = prose(str(row.get("reason") or ""), room.text)
    return f'<li><div class="two">{sides}</div><span class="reason">{reason}</span></li>'


def _labels(row: Mapping[str, Any]) -> str:
    """Return what a sample is labelled, and what it should be or was predicted as."""
    label, suggested, prediction = (row.get(one) for one in ("label", "suggested", "prediction"))
    if label is None and prediction is None:
        return ""
    said = f"<span>{name(str(label), 40)}</span>" if label is not None else ""
    if suggested is not None and suggested != label:
        said += f'<span class="arrow">→</span><strong>{name(str(suggested), 40)}</strong>'
    elif prediction is not None and prediction != label:
        said += f'<span class="arrow">predicted as</span><span>{name(str(prediction), 40)}</span>'
    return f'<span class="labels">{said}</span>'


def _score(row: Mapping[str, Any]) -> str:
    score = row.get("score")
    if not isinstance(score, int | float) or not math.isfinite(score):
        return ""
    # A probability is a share; scores of other kinds have no end to be measured against.
    bar = share(score) if 0 <= score <= 1 else ""
    return f'<span class="score">{bar}<span>{score:.2f}</span></span>'


def first_rows(table: pa.Table, most: int) -> list[dict[str, Any]]:
    """Return the first rows of a table as mappings."""
    shown = table.slice(0, most)
    columns = {name: cells(shown[name]) for name in shown.column_names}
    return [{name: values[row] for name, values in columns.items()} for row in range(shown.num_rows)]


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
        f'<p class="quiet">{prose(str(row[one]), 2 * room.text)}</p>' for one in ("action", "buys") if row.get(one)
    )
    told = prose(str(row.get("reason") or ""), 3 * room.text)
    return f'<li><div class="told">{kind} {where}<p>{told}</p>{_compared(row)}{steps}</div>{picture}</li>'


def _compared(row: Mapping[str, Any]) -> str:
    """Return the measure on both sides of an insight as two bars of one scale."""
    inside, outside = _finite(row.get("inside")), _finite(row.get("outside"))
    if inside is None or outside is None:
        return ""
    largest = max(abs(inside), abs(outside)) or 1.0
    measure = html(str(row.get("measure") or ""), 40)
    sides = (str(row.get("inside_of") or "these"), str(row.get("outside_of") or "elsewhere"))
    said = percent if row.get("is_share") else number
    bars = "".join(
        f"<span>{name(side, 40)}</span>{share(abs(value) / largest)}<span>{said(value)}</span>"
        for side, value in zip(sides, (inside, outside), strict=True)
    )
    return f'<div class="compared"><span class="measure">{measure}</span>{bars}</div>'


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
