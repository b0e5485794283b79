"""A sample's distances to the classes as a figure: bars, nearest first, its label and its prediction marked."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.figures.figure import Content, Figure
from cutaway.analysis.figures.painting import paint_grid, plain
from cutaway.analysis.figures.palettes import LIGHT
from cutaway.analysis.figures.pictures import pixels_of
from cutaway.analysis.figures.words import clean, number, short
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["distances_figure"]

MOST_BARS = 20


def distances_figure(
    distances: Array,
    classes: Sequence[str],
    *,
    sample: str = "",
    label: str | None = None,
    prediction: str | None = None,
    preview: bytes | None = None,
    title: str = "",
) -> Figure:
    """Return the distances of one sample to each class as bars, nearest first.

    `label` and `prediction` are marked by colour and word; `preview` is a picture of the sample, as PNG. Of more than
    20 classes the nearest are shown, always with the label and the prediction.
    """
    values, names = np.asarray(distances, np.float64).ravel(), [str(one) for one in classes]
    if len(values) != len(names):
        raise ConfigurationError(
            f"`distances` must be one number for each of {len(names)} classes, but got {len(values)}."
        )
    known = [place for place in np.argsort(values, kind="stable").tolist() if math.isfinite(values[place])]
    if not known:
        raise AnalysisUnavailable("distances to the classes", "none of the distances is finite.")
    marked = [place for place in known if names[place] in (label, prediction)]
    kept = set([*marked, *(place for place in known if place not in marked)][:MOST_BARS])
    order = [place for place in known if place in kept]
    bars = Bars(
        tuple(names[place] for place in order),
        tuple(float(values[place]) for place in order),
        *(label, prediction, preview, sample),
    )
    return Figure(title, _caption(bars, len(names)), bars, width=900, height=max(320, 170 + 30 * len(order)))


def _caption(bars: Bars, classes: int) -> str:
    said = f"Distance of {'sample ' + bars.sample if bars.sample else 'the sample'} to the centre of each class."
    said += f" The nearest is {bars.names[0]}, at {number(bars.values[0])}."
    if bars.label is not None:
        said += f" Its label is {bars.label}"
        said += f", and the model says {bars.prediction}." if bars.prediction is not None else "."
    if len(bars.names) < classes:
        said += f" {len(bars.names)} of {classes:,} classes are shown."
    return said


@dataclass(frozen=True)
class Bars(Content):
    """Distances, nearest first, and a picture where there is one."""

    names: tuple[str, ...]
    values: tuple[float, ...]
    label: str | None
    prediction: str | None
    preview: bytes | None
    sample: str

    def _mark(self, name: str) -> str:
        if name == self.label:
            return "label and prediction" if name == self.prediction else "label"
        return "prediction" if name == self.prediction else ""

    def paint(self, canvas: Canvas) -> None:
        """Draw the bars, and the picture beside them."""
        grid = canvas.add_gridspec(1, 2, width_ratios=(1, 3)) if self.preview else canvas.add_gridspec(1, 1)
        if self.preview:
            image = canvas.add_subplot(grid[0, 0])
            image.set_axis_off()
            image.set_title(plain(self.sample, 22), fontsize=10, color=LIGHT.ink)
            pixels = pixels_of(self.preview)
            if pixels is not None:
                image.imshow(pixels, cmap="gray" if pixels.ndim == 2 else None, interpolation="nearest")
        axes = canvas.add_subplot(grid[0, -1])
        paint_grid(axes, lines=False)
        marks = [self._mark(name) for name in self.names]
        colours = [LIGHT.orange if one == "prediction" else LIGHT.blue if one else LIGHT.none for one in marks]
        axes.barh(range(len(self.names)), self.values, color=colours, height=0.75)
        for place, (value, mark) in enumerate(zip(self.values, marks, strict=True)):
            text = f" {number(value)}{'  ' + mark if mark else ''}"
            axes.text(value, place, text, va="center", fontsize=9, color=LIGHT.ink)
        axes.set_yticks(range(len(self.names)), [plain(name, 24) for name in self.names])
        axes.set_ylim(len(self.names) - 0.5, -0.5)
        axes.set_xlim(0, (max(self.values) or 1) * 1.3)
        axes.set_xlabel("distance")

    def body(self) -> str:
        """Return the bars as a table."""
        largest = max(self.values) or 1.0
        lines = []
        for name, value in zip(self.names, self.values, strict=True):
            mark = self._mark(name)
            fill = {"label and prediction": "both", "": "plain"}.get(mark, mark)
            width = f"{max(value, 0) / largest * 100:.2f}"
            bar = f'<svg aria-hidden="true"><rect class="fill-{fill}" height="18" width="{width}%"></rect></svg>'
            lines.append(
                f'<tr><th scope="row" title="{escape(clean(name))}">{escape(short(name, 40))}</th>'
                f'<td class="bar">{bar}</td><td>{number(value)}</td><td class="mark">{mark}</td></tr>'
            )
        image = ""
        if self.preview:
            source = b64encode(self.preview).decode()
            image = f'<img class="picture" alt="Picture of the sample" src="data:image/png;base64,{source}">'
        heads = '<th scope="col">class</th><td></td><th scope="col">distance</th><td></td>'
        table = f'<table class="bars"><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
        return f'<div class="beside">{image}{table}</div>'
