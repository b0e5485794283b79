"""The confusion matrix as a figure: true classes in rows, predictions in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cutaway.analysis.figures.figure import Content, Figure
from cutaway.analysis.figures.painting import plain
from cutaway.analysis.figures.palettes import LIGHT
from cutaway.analysis.figures.words import clean, sentence
from cutaway.analysis.samples import LABEL, PREDICTION
from cutaway.arrays import Array, Float64Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["confusion_figure"]

# A matrix of more is no longer read; the classes that are confused most stay.
MOST_CLASSES = 30
OTHERS = "other"
# Right and wrong answers at their strongest: dark letters stay readable on both.
HIT, MISS = "#5aa0e6", "#f0a04b"


def confusion_figure(
    counts: Array | pa.Table, classes: Sequence[str], *, title: str = "", words: str = "", noun: str = "sample"
) -> Figure:
    """Return how often each class (rows) was predicted as each class (columns), shaded by the share of its row.

    `counts` is a square array in the order of `classes`, or a table with `label`, `prediction` and `count` that has a
    row for each pair that occurs. Of more than 30 classes, those that are confused most have a row of their own, and
    all others are one. `noun` is what is counted.
    """
    names = [str(one) for one in classes]
    if not names:
        raise AnalysisUnavailable("confusion matrix", "there are no classes.")
    rows, columns, values = _pairs(counts, names)
    kept, notes = list(range(len(names))), []
    if len(names) > MOST_CLASSES:
        wrong = np.where(rows == columns, 0, values)
        confused = np.bincount(rows, wrong, len(names)) + np.bincount(columns, wrong, len(names))
        kept = sorted(np.argsort(-confused, kind="stable")[:MOST_CLASSES].tolist())
        notes.append(f"Of {len(names):,} classes the {MOST_CLASSES} that are confused most are shown, the rest as one.")
    place = np.full(len(names), len(kept))
    place[kept] = np.arange(len(kept))
    shown = [names[one] for one in kept] + [OTHERS] * (len(kept) < len(names))
    matrix = np.zeros((len(shown), len(shown)), np.int64)
    np.add.at(matrix, (place[rows], place[columns]), values)
    total, right = int(values.sum()), int(values[rows == columns].sum())
    share = f", {right / total:.1%} on the diagonal, where the model is right" if total else ""
    colours = "blue is its share that is right, orange its errors, the strongest the most frequent"
    said = f"{counted(total, noun)}{share}. Each row is a true class: {colours}."
    side = min(1600, 300 + 42 * len(shown))
    content = Matrix(tuple(shown), matrix, of_others=len(kept) < len(names), noun=noun)
    caption = " ".join([said, *notes, sentence(words)]).strip()
    return Figure(title, caption, content, width=max(side, 700), height=max(side - 20, 560))


def _pairs(counts: Array | pa.Table, names: list[str]) -> tuple[Int64Array, Int64Array, Int64Array]:
    if isinstance(counts, pa.Table):
        place = {name: number for number, name in enumerate(names)}
        missing = {LABEL, PREDICTION, "count"} - set(counts.column_names)
        if missing:
            raise ConfigurationError(f"`counts` lacks the columns {', '.join(sorted(missing))}.")
        sides = [[str(one) for one in counts[side].to_pylist()] for side in (LABEL, PREDICTION)]
        unknown = sorted({one for side in sides for one in side} - place.keys())
        if unknown:
            raise ConfigurationError(f"`counts` speaks of {unknown[0]!r}, which is none of the classes.")
        rows, columns = (np.array([place[one] for one in side], np.int64) for side in sides)
        return rows, columns, np.asarray(counts["count"].to_numpy(), np.int64)
    matrix = np.asarray(counts)
    if matrix.shape != (len(names), len(names)) or matrix.dtype.kind not in "biu":
        raise ConfigurationError(
            f"`counts` must be whole numbers in {len(names)} rows and columns, one for each class, "
            f"but got {matrix.dtype} of shape {matrix.shape}."
        )
    rows, columns = np.nonzero(matrix)
    return rows, columns, matrix[rows, columns].astype(np.int64)


@dataclass(frozen=True)
class Matrix(Content):
    """Counts of pairs. `of_others` says that the last row and column stand for many classes."""

    names: tuple[str, ...]
    counts: Int64Array
    of_others: bool = False
    noun: str = "sample"

    @cached_property
    def shares(self) -> Float64Array:
        """Each count as a part of its row; 0 in a row without samples."""
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1))

    def _tint(self, row: int, column: int) -> str:
        if row == column:
            # Others predicted as others may be right or wrong: neither colour is true.
            return "" if self.of_others and row == len(self.names) - 1 else "hit"
        return "miss"

    @cached_property
    def _worst(self) -> float:
        """The largest share of a row that is wrong, among classes of their own."""
        own = len(self.names) - self.of_others
        wrong = self.shares[:own, :own].copy()
        np.fill_diagonal(wrong, 0)
        return float(wrong.max(initial=0)) or 1.0

    def _steps(self, row: int, column: int) -> int:
        """Return how strong the colour of a cell is, from 1 to 10: of what is there, nothing is white."""
        share = self.shares[row, column]
        # Errors are rare, and still what one looks for: they are seen against the most frequent one.
        strength = share if row == column else np.sqrt(min(share / self._worst, 1))
        return max(1, int(np.ceil(strength * 10 - 1e-9)))

    def paint(self, canvas: Canvas) -> None:
        """Draw the shaded cells and their counts."""
        axes = canvas.add_subplot()
        width = len(self.names)
        grounds = np.ones((width, width, 3))
        for row, column in zip(*np.nonzero(self.counts), strict=True):
            tint = {"hit": HIT, "miss": MISS}.get(self._tint(row, column), "#ffffff")
            full = np.array([int(tint[at : at + 2], 16) / 255 for at in (1, 3, 5)])
            grounds[row, column] = 1 + (full - 1) * self._steps(row, column) / 10
        axes.imshow(grounds, aspect="auto", interpolation="nearest")
        self._paint_counts(axes)
        names = [plain(name, 14) for name in self.names]
        turned = sum(len(name) for name in names) > 60
        axes.set_xticks(range(width), names, rotation=50 if turned else 0, ha="right" if turned else "center")
        axes.set_yticks(range(width), names)
        axes.set_xlabel("prediction", color=LIGHT.ink)
        axes.set_ylabel("true class", color=LIGHT.ink)
        axes.set_xticks(np.arange(width + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(width + 1) - 0.5, minor=True)
        axes.grid(which="minor", color=LIGHT.line, linewidth=0.7)
        axes.tick_params(which="both", length=0, labelsize=9 if width <= 20 else 8)
        axes.spines[:].set_visible(False)

    def _paint_counts(self, axes: Axes) -> None:
        size = 10 if len(self.names) <= 15 else 8
        for row, column in zip(*np.nonzero(self.counts), strict=True):
            count = int(self.counts[row, column])
            text = f"{count:,}" if count < 1e4 or size == 10 else f"{count / 1e3:.0f}k"
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=LIGHT.ink)

    def body(self) -> str:
        """Return the matrix as a table."""
        heads = "".join(f'<th scope="col" title="{escape(clean(one))}">{escape(clean(one))}</th>' for one in self.names)
        lines = []
        for row, name in enumerate(self.names):
            cells = "".join(self._cell(row, column) for column in range(len(self.names)))
            title = escape(clean(name))
            lines.append(f'<tr><th scope="row" title="{title}">{title}</th>{cells}</tr>')
        corner = '<th class="corner" scope="col">true class ↓<br>prediction →</th>'
        return (
            '<div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix"><table class="matrix"><thead>'
            f"<tr>{corner}{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        )

    def _cell(self, row: int, column: int) -> str:
        count = int(self.counts[row, column])
        if not count:
            return '<td class="zero">0</td>'
        share = self.shares[row, column]
        said = f"{counted(count, self.noun)} of {self.names[row]} read as {self.names[column]}, {share:.1%} of its row"
        kind = f"{self._tint(row, column)} m{self._steps(row, column)}"
        return f'<td class="{kind}" title="{escape(clean(said))}">{count:,}</td>'
