"""Draws a map of points: with matplotlib, and as what `map.js` draws in a page. Chooses nothing."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.figures.figure import Content
from cutaway.analysis.figures.map_values import Classes, Name, Ramp, Sizes
from cutaway.analysis.figures.packing import pack, pack_column
from cutaway.analysis.figures.painting import plain
from cutaway.analysis.figures.palettes import DARK, LIGHT, NO_VALUE, Theme, shades
from cutaway.analysis.figures.pictures import Previews
from cutaway.analysis.figures.words import clean, number
from cutaway.analysis.samples import SAMPLE
from cutaway.arrays import BoolArray, Float32Array, Float64Array, UInt8Array
from cutaway.class_colours import MARKED_CLASSES, class_colour, is_triangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["PointMap"]

DIMMED = 0.1
# Of the letters of a name among the points.
LONGEST = 16
# A legend beside the points would leave them no room in a figure that is narrower, in inches.
NARROWEST = 4.5
# The area of a triangle's box beside that of a disc that covers as much.
TRIANGLE = 1.57


@dataclass(frozen=True)
class PointMap(Content):
    """Points in the order of drawing; `table` has the columns that a page shows for one."""

    positions: Float32Array
    ids: tuple[str, ...]
    table: pa.Table
    colours: Classes | Ramp | None
    sizes: Sizes | None
    wrong: BoolArray
    selected: BoolArray | None
    names: tuple[Name, ...]
    previews: Previews

    scripts = ("raster.js", "map_view.js", "map.js")

    @property
    def radius(self) -> float:
        """How large the smallest point is drawn, in pixels: the more, the smaller."""
        return float(np.clip(4.2 - 0.55 * np.log10(max(len(self.ids), 1)), 1.2, 4.0))

    def paint(self, canvas: Canvas) -> None:
        """Draw the points, their names and a legend."""
        axes = canvas.add_subplot()
        axes.set_axis_off()
        axes.set_aspect("equal", adjustable="datalim")
        if not self.ids:
            axes.text(0.5, 0.5, "No sample has a position.", ha="center", va="center", color=LIGHT.muted, fontsize=12)
            return
        points = self._radii() * 72 / canvas.dpi
        colours = self._rgba()
        area = (2 * points) ** 2
        triangles = self._triangles()[self._codes()]
        area[triangles] *= TRIANGLE
        marks = [_path("o"), _path("^")]
        # The wrong ones come last in the order of drawing; without rims the others take half the time.
        for rows, width in ((~self.wrong, 0.0), (self.wrong, 0.9)):
            x, y = self.positions[rows].T
            rims: Any = np.column_stack([np.tile(_rgb(LIGHT.ink), (len(x), 1)), colours[rows, 3]]) if width else "none"
            drawn = axes.scatter(x, y, s=area[rows], c=colours[rows], edgecolors=rims, linewidths=width)
            if triangles.any():
                drawn.set_paths([marks[int(one)] for one in triangles[rows]])
        self._paint_legend(canvas, axes)
        self._paint_names(canvas, axes)

    def _radii(self) -> Float32Array:
        scale = np.zeros(len(self.ids)) if self.sizes is None else self.sizes.scale / 255
        return np.asarray(self.radius * (1 + 2.2 * scale), np.float32)

    def _rgba(self) -> Float64Array:
        rgb = np.array([_rgb(one) for one in self._shades(LIGHT)])
        rgba = np.concatenate([rgb[self._codes()], np.full((len(self.ids), 1), 0.8)], axis=1)
        if self.selected is not None:
            rgba[:, 3] = np.where(self.selected, 0.9, DIMMED)
        return rgba

    def _codes(self) -> UInt8Array:
        return np.zeros(len(self.ids), np.uint8) if self.colours is None else self.colours.codes

    def _shades(self, theme: Theme) -> list[str]:
        """Return the 256 colours that codes stand for."""
        if isinstance(self.colours, Ramp):
            return [*shades(theme.ramp, NO_VALUE), theme.none]
        named = [class_colour(place) for place in range(MARKED_CLASSES)]
        return [*named, *[theme.other] * (NO_VALUE - len(named)), theme.none]

    def _triangles(self) -> BoolArray:
        """Return for each of the 256 codes whether it is drawn as a triangle."""
        named = isinstance(self.colours, Classes)
        return np.array([named and code < MARKED_CLASSES and is_triangle(code) for code in range(256)])

    def _paint_names(self, canvas: Canvas, axes: Axes) -> None:
        """Write the names that do not lie on one another, largest classes first."""
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=3, foreground="white")]
        written = [
            axes.text(
                *(name.x, name.y, plain(name.text, LONGEST)),
                ha="center",
                va="center",
                fontsize=12,
                fontweight="bold",
                color=LIGHT.ink,
                path_effects=halo,
            )
            for name in self.names
        ]
        # Where they lie is known once the figure is laid out.
        canvas.draw_without_rendering()
        taken: list[Any] = []
        for text in written:
            box = text.get_window_extent().padded(2)
            if any(box.overlaps(other) for other in taken):
                text.remove()
            else:
                taken.append(box)

    def _paint_legend(self, canvas: Canvas, axes: Axes) -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        if isinstance(self.colours, Ramp):
            colours = ListedColormap(shades(LIGHT.ramp, NO_VALUE))
            scale = ScalarMappable(Normalize(self.colours.low, self.colours.high), colours)
            bar = canvas.colorbar(scale, ax=axes, shrink=0.6, aspect=25, pad=0.02)
            bar.set_label(plain(self.colours.column), color=LIGHT.ink)
            bar.ax.tick_params(colors=LIGHT.muted, labelsize=9)
            bar.outline.set_visible(False)
        handles = self._handles(canvas.dpi)
        if handles and canvas.get_figwidth() >= NARROWEST:
            title = plain(self.colours.column) if isinstance(self.colours, Classes) else None
            canvas.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9, title=title)

    def _handles(self, dpi: float) -> list[Any]:
        colours, triangles = self._shades(LIGHT), self._triangles()
        handles = []
        if isinstance(self.colours, Classes):
            entries = self.colours.entries()
            handles = [
                _dot(colours[code], f"{plain(name, 22)}  ({count:,})", shape="^" if triangles[code] else "o")
                for code, name, count in entries
            ]
        if self.wrong.any():
            handles.append(_dot("white", f"misclassified  ({int(self.wrong.sum()):,})", edge=LIGHT.ink))
        if self.sizes is not None and self.sizes.high > self.sizes.low:
            name = plain(self.sizes.column, 18)
            for value, times, more in ((self.sizes.low, 1.0, ""), (self.sizes.high, 3.2, " or more")):
                points = 2 * self.radius * times * 72 / dpi
                handles.append(_dot(LIGHT.muted, f"{name} {number(value)}{more}", size=points))
        return handles

    def body(self) -> str:
        """Return the controls and the places that the script fills."""
        from cutaway.analysis.figures.page import asset

        count = f"{len(self.ids):,} points"
        column = escape(clean(self.colours.column)) if self.colours else ""
        heading = f"<h2>{column}</h2>" if column else ""
        return asset("map.html").replace("{{COUNT}}", count).replace("{{COLUMN}}", heading)

    def data(self) -> dict[str, Any]:
        """Return the points as typed arrays, and what is shown for each."""
        return {
            "x": pack(self.positions[:, 0]),
            "y": pack(self.positions[:, 1]),
            "codes": pack(self._codes()),
            "triangles": pack(self._triangles().astype(np.uint8)),
            "scale": pack(np.zeros(len(self.ids), np.uint8) if self.sizes is None else self.sizes.scale),
            "wrong": pack(self.wrong.astype(np.uint8)),
            "selected": None if self.selected is None else pack(self.selected.astype(np.uint8)),
            "radius": self.radius,
            "ids": self.ids,
            "columns": [pack_column(name, self.table[name]) for name in self.table.column_names if name != SAMPLE],
            "colour": self._colour_data(),
            "size": None
            if self.sizes is None
            else {"column": self.sizes.column, "low": self.sizes.low, "high": self.sizes.high},
            "names": [{"text": one.text, "x": one.x, "y": one.y} for one in self.names],
            "previews": self.previews.packed(),
            "themes": {"light": self._theme(LIGHT), "dark": self._theme(DARK)},
        }

    def _theme(self, theme: Theme) -> dict[str, Any]:
        return {"ground": theme.ground, "ink": theme.ink, "shades": self._shades(theme)}

    def _colour_data(self) -> dict[str, Any] | None:
        if self.colours is None:
            return None
        if isinstance(self.colours, Ramp):
            return {"low": self.colours.low, "high": self.colours.high, "none": self.colours.none_count}
        entries = self.colours.entries()
        return {"entries": [{"code": code, "name": name, "count": count} for code, name, count in entries]}


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _path(marker: str) -> Any:
    """Return the outline of one of matplotlib's markers."""
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())


def _dot(colour: str, label: str, *, edge: str = "none", size: float = 7, shape: str = "o") -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], marker=shape, linestyle="none", color=colour, markeredgecolor=edge, markersize=size, label=label
    )
