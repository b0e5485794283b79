"""Ranked samples as a figure: the pictures in their order, each with its score and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cutaway.analysis.figures.figure import Figure
from cutaway.analysis.figures.tiles import Group, Tile, Tiles
from cutaway.analysis.figures.words import said, sentence
from cutaway.analysis.samples import LABEL, PREDICTION, SAMPLE
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import counted

__all__ = ["ranked_figure"]

# A page of more pictures is scrolled, not read.
MOST_TILES, MOST_PAIRS = 60, 30
# What stands below a picture where the table has it, by its column.
_LINES = {LABEL: "label", "suggested": "suggested", PREDICTION: "prediction", "between": "between", "kind": "kind"}


def ranked_figure(table: pa.Table, previews: Mapping[str, bytes], *, title: str = "", words: str = "") -> Figure:
    """Return ranked samples as pictures, the highest score first; where `other` names another sample, side by side.

    `table` begins with `sample`, `score` and `reason`. `previews` are PNG by the id of the sample.
    """
    if table.column_names[:3] != [SAMPLE, "score", "reason"]:
        raise ConfigurationError(f"A ranked table begins with sample, score, reason, but has {table.column_names[:3]}.")
    if not table.num_rows:
        raise AnalysisUnavailable("figure", "nothing was found that could be shown.")
    pairs = "other" in table.column_names
    most = MOST_PAIRS if pairs else MOST_TILES
    rows = table.slice(0, most).to_pylist()
    if pairs:
        groups = [Group((_tile(row, previews), _other(row, previews)), words=_why(row)) for row in rows]
        content = Tiles(tuple(groups), columns=4)
    else:
        content = Tiles((Group(tuple(_tile(row, previews) for row in rows), "Highest score first"),))
    cut = f" {most} of {table.num_rows:,} are shown." if table.num_rows > most else ""
    shown = f"{counted(table.num_rows, 'sample')}.{cut} {sentence(words)}"
    return Figure(title, shown.strip(), content, height=content.height)


def _tile(row: dict[str, Any], previews: Mapping[str, bytes]) -> Tile:
    lines = [f"score {row['score']:.2f}" if row["score"] is not None else "no score"]
    lines += [f"{word} {said(row[name])}" for name, word in _LINES.items() if row.get(name) is not None]
    return Tile(previews.get(str(row[SAMPLE])), str(row[SAMPLE]), tuple(lines))


def _why(row: dict[str, Any]) -> str:
    return f"Score {row['score']:.2f}: {said(row['reason'])}" if row["score"] is not None else said(row["reason"])


def _other(row: dict[str, Any], previews: Mapping[str, bytes]) -> Tile:
    label = [f"label {said(row['other_label'])}"] if row.get("other_label") is not None else []
    return Tile(previews.get(str(row["other"])), str(row["other"]), tuple(label), "first")
