"""What every drawing shares: colours, one font, text that fits. Draws no data."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from cutaway.class_colours import class_colour

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

__all__ = [
    "FAINT",
    "GRID",
    "INK",
    "PAPER",
    "Colour",
    "blank",
    "colour_of",
    "colour_of_label",
    "fitted",
    "font",
    "is_background",
    "legend",
    "printable",
    "text_width",
]

Colour = tuple[int, int, int]

PAPER: Colour = (255, 255, 255)
INK: Colour = (33, 37, 48)
FAINT: Colour = (104, 112, 130)
GRID: Colour = (228, 231, 238)


def colour_of(index: int) -> Colour:
    """Return the colour of the label, trace or class with an index; after ten they come again."""
    red, green, blue = bytes.fromhex(class_colour(index)[1:])
    return red, green, blue


def colour_of_label(label: str) -> Colour:
    """Return the colour of a label that has no index: the same in every picture and process."""
    return colour_of(zlib.crc32(label.encode("utf-8", "surrogatepass")))


def is_background(label: str) -> bool:
    """Whether a label stands for nothing, so that masks leave it uncoloured: '' or 'background'."""
    return label.strip().lower() in ("", "background")


@lru_cache(maxsize=16)
def font(size: int) -> FreeTypeFont | ImageFont:
    """Return the font that comes with Pillow, in a size in pixels."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def printable(text: str) -> str:
    """Return a text in one line, without characters that would move or hide others.

    >>> printable("two\\nlines")
    'two lines'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def text_width(text: str, size: int) -> float:
    """Return how wide a text is drawn."""
    return font(size).getlength(text)


def fitted(text: str, width: float, size: int) -> str:
    """Return a text in one line, cut with an ellipsis to what fits a width.

    >>> fitted("hello", 200, 12)
    'hello'
    """
    # No letter is narrower than a pixel: what is longer than that never fits, and need not be measured.
    line = printable(text[: int(width) + 1])
    if len(line) == len(text) and text_width(line, size) <= width:
        return line
    while line and text_width(line + "…", size) > width:
        line = line[:-1]
    return line + "…"


def blank(width: int, height: int) -> Image:
    """Return an empty sheet."""
    from PIL import Image

    return Image.new("RGB", (max(1, width), max(1, height)), PAPER)


def legend(entries: Sequence[tuple[str, Colour]], width: int, size: int = 13) -> Image:
    """Return a strip with a coloured square beside each name, in as many lines as they need."""
    from PIL.ImageDraw import Draw

    places, x, y, line = [], 0.0, 0, size + 8
    for name, colour in entries:
        short = fitted(name, width - 24 - 8, size)
        needed = 24 + text_width(short, size) + 14
        if x and x + needed > width:
            x, y = 0.0, y + line
        places.append((x, y, short, colour))
        x += needed
    sheet = blank(width, y + line if places else 1)
    draw = Draw(sheet)
    for left, top, short, colour in places:
        draw.rounded_rectangle((left + 4, top + 4, left + 4 + size, top + 4 + size), 3, fill=colour)
        draw.text((left + 24, top + 4 + size / 2), short, fill=INK, font=font(size), anchor="lm")
    return sheet
