"""Rows of pictures with words below each: with matplotlib, and as plain HTML. Chooses nothing."""

from __future__ import annotations

import math
import textwrap
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Literal

from cutaway.analysis.figures.figure import Content
from cutaway.analysis.figures.painting import move_frame, plain
from cutaway.analysis.figures.palettes import LIGHT
from cutaway.analysis.figures.pictures import Picture, extent_of, pixels_of, png_of
from cutaway.analysis.figures.words import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["Group", "Mark", "Tile", "Tiles"]

WIDTH, MARGIN = 1000, 116
# Larger pictures are drawings, not pixels to be told apart.
LARGE = 160
Mark = Literal["", "first", "wrong"]


@dataclass(frozen=True)
class Tile:
    """A picture, PNG or array, with a title and lines of words below; None where a sample has no picture.

    `mark` frames it: `first` for what the others are compared with, `wrong` for what the model reads wrongly.
    """

    picture: Picture | None
    title: str = ""
    lines: tuple[str, ...] = ()
    mark: Mark = ""


@dataclass(frozen=True)
class Group:
    """Tiles that belong together, under a heading."""

    tiles: tuple[Tile, ...]
    heading: str = ""
    words: str = ""


@dataclass(frozen=True)
class Tiles(Content):
    """Groups of tiles, `columns` to a row."""

    groups: tuple[Group, ...]
    columns: int = 7

    @cached_property
    def _aspect(self) -> float:
        """How high a tile is for its width: low where all pictures are, as those of texts and series."""
        sizes = [extent_of(tile.picture) for group in self.groups for tile in group.tiles]
        known = [high / wide for wide, high in sizes if wide and high]
        return min(1.0, max(0.25, *known)) if known else 1.0

    @property
    def _side(self) -> float:
        """How wide a picture is, in pixels."""
        return (WIDTH - 30) / self.columns - 14

    @property
    def _letters(self) -> int:
        """How many letters fit below a tile."""
        return int((WIDTH - 30) / self.columns / 6.6)

    def _lines(self, tile: Tile) -> list[str]:
        texts = [one for one in (tile.title, *tile.lines) if one]
        return [line for text in texts for line in textwrap.wrap(clean(text), self._letters)[:4]]

    def _rows(self) -> list[tuple[str, list[Tile]]]:
        """Return the rows of tiles, the first of each group with its heading."""
        rows: list[tuple[str, list[Tile]]] = []
        for group in self.groups:
            said = ": ".join(one for one in (group.heading, group.words) if one)
            starts = range(0, max(len(group.tiles), 1), self.columns)
            rows += [(said if not at else "", list(group.tiles[at : at + self.columns])) for at in starts]
        return rows

    def _heights(self) -> list[float]:
        """Return the height of each row in pixels: heading, picture, words."""
        side = self._side * self._aspect
        tall = []
        for said, tiles in self._rows():
            heading = 17 * len(textwrap.wrap(clean(said), 130)) + 8 if said else 0
            tall.append(heading + side + 15 * max((len(self._lines(tile)) for tile in tiles), default=0) + 18)
        return tall

    @property
    def height(self) -> int:
        """The height of the whole figure in pixels, with room for the title and the caption."""
        return math.ceil(min(MARGIN + sum(self._heights()), 20_000))

    def paint(self, canvas: Canvas) -> None:
        """Draw row by row, from the top."""
        canvas.set_layout_engine("none")
        heights = self._heights()
        whole = sum(heights) + MARGIN
        move_frame(canvas, top=1 - 12 / whole, bottom=12 / whole)
        top = 1 - 52 / whole
        side = self._side * self._aspect / whole
        for (said, tiles), tall in zip(self._rows(), heights, strict=True):
            under = top
            if said:
                lines = textwrap.wrap(clean(said), 130)
                canvas.text(0.02, top, plain("\n".join(lines), None), va="top", fontsize=10, color=LIGHT.ink)
                under -= (17 * len(lines) + 8) / whole
            for column, tile in enumerate(tiles):
                left = (18 + column * (WIDTH - 30) / self.columns) / WIDTH
                axes = canvas.add_axes((left, under - side, self._side / WIDTH, side))
                self._paint_tile(axes, tile)
            top -= tall / whole

    def _paint_tile(self, axes: Axes, tile: Tile) -> None:
        axes.set_xticks([])
        axes.set_yticks([])
        pixels = None if tile.picture is None else pixels_of(tile.picture)
        if pixels is None:
            axes.text(0.5, 0.5, "no picture", ha="center", va="center", fontsize=9, color=LIGHT.muted)
        else:
            smooth = "antialiased" if max(pixels.shape) > LARGE else "nearest"
            axes.imshow(pixels, cmap="gray" if pixels.ndim == 2 else None, vmin=0, vmax=255, interpolation=smooth)
        colour, width, style = {
            "first": (LIGHT.blue, 2.5, "-"),
            "wrong": (LIGHT.orange, 2.5, "--"),
        }.get(tile.mark, (LIGHT.line, 1.0, "-"))
        for spine in axes.spines.values():
            spine.set(color=colour, linewidth=width, linestyle=style)
        lines = "\n".join(self._lines(tile))
        words = plain(lines, None)
        axes.annotate(words, (0, 0), (0, -5), "axes fraction", "offset points", va="top", fontsize=8.5, color=LIGHT.ink)

    def body(self) -> str:
        """Return the groups as lists of pictures."""
        found = []
        for group in self.groups:
            heading = f"<h2>{escape(clean(group.heading))}</h2>" if group.heading else ""
            words = f"<p>{escape(clean(group.words))}</p>" if group.words else ""
            tiles = "".join(self._tile(tile) for tile in group.tiles)
            found.append(f'<section class="group">{heading}{words}<ul class="tiles">{tiles}</ul></section>')
        return "".join(found)

    def _tile(self, tile: Tile) -> str:
        kinds = {"first": " first", "wrong": " marked", "": ""}[tile.mark]
        kinds += " broad" if self.columns <= 3 else " wide" if self.columns <= 5 else ""
        kinds += " large" if max(extent_of(tile.picture)) > LARGE else ""
        png = None if tile.picture is None else png_of(tile.picture)
        name = escape(clean(tile.title))
        shown = '<div class="missing">no picture</div>'
        if png is not None:
            shown = f'<img alt="Picture: {name}" src="data:image/png;base64,{b64encode(png).decode()}">'
        lines = "".join(f"<span>{escape(clean(line))}</span>" for line in tile.lines)
        return f'<li class="tile{kinds}">{shown}{f"<b>{name}</b>" if name else ""}{lines}</li>'
