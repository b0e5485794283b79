"""The frame around a plot: its axes, their round numbers and labels. Plots nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from cutaway.dataset.rendering.canvas import FAINT, INK, blank, fitted, font

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Axis", "Plot", "framed", "number", "place"]

WIDTH, HEIGHT = 640, 360

# Draws into a width and a height, with lines of the grid at the given numbers of the vertical axis.
Plot = Callable[[int, int, tuple[float, ...]], "Image"]


class Axis(NamedTuple):
    """The lowest and highest value of an axis, and its label."""

    low: float
    high: float
    label: str = ""

    def ticks(self, about: int) -> tuple[float, ...]:
        """Return about so many round numbers on the axis: steps of 1, 2 or 5 times a power of ten.

        >>> Axis(0, 1).ticks(5)
        (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        """
        raw = (self.high - self.low) / about
        # Beyond what floats tell apart there is no step; one end alone says what there is.
        if not raw > max(abs(self.low), abs(self.high)) * 1e-12 or not math.isfinite(raw):
            return (self.low,)
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        digits = -math.floor(math.log10(step))
        return tuple(round(index * step, digits) + 0.0 for index in range(first, last + 1))


def place(value: float, axis: Axis, length: int) -> float:
    """Return how far along an axis of some pixels a value lies.

    >>> place(0.5, Axis(0, 1), 101)
    50.0
    """
    return (value - axis.low) / (axis.high - axis.low) * (length - 1)


def number(value: float) -> str:
    """Return a number in about four digits, very large and very small ones with a power of ten.

    >>> number(0.25), number(20000.0), number(1e7), number(0.1 + 0.2)
    ('0.25', '20,000', '1e+07', '0.3')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1_000_000 else f"{value:.4g}"


def framed(plot: Plot, across: Axis, up: Axis | None, key: Image | None = None) -> Image:
    """Return a plot between its axes, its legend above it. Without `up` it has no vertical numbers."""
    from PIL.ImageDraw import Draw

    sheet = blank(WIDTH, HEIGHT)
    draw = Draw(sheet)
    y_ticks = up.ticks(5) if up else ()
    left = int(max((font(12).getlength(number(value)) for value in y_ticks), default=0)) + 24
    label = up.label if up else ""
    top = 14 + (22 if label else 0)
    if key is not None:
        sheet.paste(key, (left - 4, top))
        top += key.height + 4
    width, height = WIDTH - left - 24, HEIGHT - top - (58 if across.label else 36)
    sheet.paste(plot(width, height, y_ticks), (left, top))
    draw.line((left, top + height, left + width, top + height), fill=FAINT)
    for value in y_ticks if up else ():
        y = top + height - 1 - place(value, up or across, height)
        draw.text((left - 8, y), number(value), FAINT, font(12), "rm")
    for value in across.ticks(6):
        x = left + place(value, across, width)
        draw.line((x, top + height, x, top + height + 4), fill=FAINT)
        draw.text((x, top + height + 8), number(value), FAINT, font(12), "mt")
    draw.text((12, 12), fitted(label, WIDTH - 24, 14), INK, font(14), "lt")
    draw.text((left + width / 2, HEIGHT - 12), fitted(across.label, width, 14), INK, font(14), "mb")
    return sheet
