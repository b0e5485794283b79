"""Rows and columns that fit the terminal: the least telling columns go first, then long names lose their middle.

Without borders, so that a table still reads in a log and cuts well with `awk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.text import Text

from cutaway.cli.words import printable, shorten

__all__ = ["Fitted", "GridColumn", "cell_text", "fit"]

GAP = 2

Cell = str | Text


@dataclass(frozen=True)
class GridColumn:
    """A column: its title, how it is aligned, and how it gives way.

    `drop` is 0 for a column that always stays; of the others the highest goes first. `least` is the width down to
    which its cells may be shortened. Names lose their middle, since both ends tell them apart; `cut` says that a
    sentence loses its end.
    """

    title: str
    align: Literal["left", "right"] = "left"
    drop: int = 0
    least: int | None = None
    cut: Literal["middle", "end"] = "middle"


class Fitted(NamedTuple):
    """Lines to print, and the titles of the columns for which there was no room."""

    lines: list[Text]
    dropped: list[str]


def fit(columns: Sequence[GridColumn], rows: Sequence[Sequence[Cell] | Text], width: int | None) -> Fitted:
    """Lay out rows in `width` characters, or as wide as they are where `width` is None.

    A row that is a single `Text` is a heading: it takes its line for itself.
    """
    body = [row if isinstance(row, Text) else [cell_text(cell) for cell in row] for row in rows]
    cells = [row for row in body if not isinstance(row, Text)]
    wanted = [
        max([len(column.title), *(row[i].cell_len for row in cells)], default=0) for i, column in enumerate(columns)
    ]
    kept = list(range(len(columns)))
    widths = dict(enumerate(wanted))
    if width is not None:
        kept, widths = _squeeze(columns, wanted, width)
    lines = []
    if any(column.title for column in columns):
        lines.append(_fitted_line([Text(columns[i].title, style="dim") for i in kept], columns, kept, widths))
    lines += [
        row if isinstance(row, Text) else _fitted_line([row[i] for i in kept], columns, kept, widths) for row in body
    ]
    return Fitted(lines, [columns[i].title for i in range(len(columns)) if i not in kept])


def _squeeze(columns: Sequence[GridColumn], wanted: Sequence[int], width: int) -> tuple[list[int], dict[int, int]]:
    """Choose the columns that stay and their widths: drop until the least widths fit, then shorten the longest."""
    kept = list(range(len(columns)))
    least = [want if (low := columns[i].least) is None else min(want, low) for i, want in enumerate(wanted)]
    while sum(least[i] for i in kept) + GAP * (len(kept) - 1) > width:
        droppable = [i for i in kept if columns[i].drop]
        if not droppable:
            break
        kept.remove(max(droppable, key=lambda i: (columns[i].drop, i)))
    widths = {i: wanted[i] for i in kept}
    excess = sum(widths.values()) + GAP * (len(kept) - 1) - width
    while excess > 0:
        spare = {i: widths[i] - least[i] for i in kept if widths[i] > least[i]}
        if not spare:
            break
        widest = max(spare, key=lambda i: widths[i])
        widths[widest] -= 1
        excess -= 1
    return kept, widths


def _fitted_line(
    cells: Sequence[Text], columns: Sequence[GridColumn], kept: Sequence[int], widths: dict[int, int]
) -> Text:
    line = Text(no_wrap=True)
    for place, (cell, i) in enumerate(zip(cells, kept, strict=True)):
        fitted = _shortened(cell, widths[i], columns[i].cut)
        padding = " " * (widths[i] - fitted.cell_len)
        right = columns[i].align == "right"
        line.append(" " * (GAP if place else 0) + (padding if right else "")).append(fitted)
        line.append("" if right else padding)
    line.rstrip()
    return line


def _shortened(cell: Text, width: int, cut: str) -> Text:
    if cell.cell_len <= width:
        return cell
    if cut == "end":
        ended = cell.copy()
        ended.truncate(width, overflow="ellipsis")
        return ended
    short = Text(shorten(cell.plain, width), style=cell.style)
    # Characters that take two cells: what is left is cut at its end.
    short.truncate(width)
    return short


def cell_text(cell: Cell) -> Text:
    """Return a cell as it is printed; a plain one can steer no terminal."""
    return cell if isinstance(cell, Text) else Text(printable(cell))
