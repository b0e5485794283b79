"""Draws horizontal bars, one a label, from 0 on. Of many only the largest are drawn, and how many were not is said."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cutaway.dataset.rendering.axes import Axis, number, place
from cutaway.dataset.rendering.canvas import FAINT, INK, blank, colour_of, fitted, font, legend, text_width
from cutaway.dataset.visualizer_classes import LeapHorizontalBar

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["bar_axis", "bars", "plain_bars", "top_bars"]

_WIDTH, _ROW, _SIDE = 640, 26, 76
_MOST = 20
_TROUGH = (243, 245, 249)


def top_bars(value: LeapHorizontalBar) -> list[int]:
    """Return which bars are drawn, in their order: all, or of many the largest, by value or truth."""
    if len(value.labels) <= _MOST:
        return list(range(len(value.labels)))
    sizes = np.abs(value.body)
    if value.gt is not None:
        sizes = np.maximum(sizes, np.abs(value.gt))
    return sorted(int(index) for index in np.argsort(-sizes, kind="stable")[:_MOST])


def bar_axis(value: LeapHorizontalBar) -> Axis:
    """Return an axis that has 0 and every bar on it; shares that come near 1 are drawn as parts of a whole."""
    both = value.body if value.gt is None else np.concatenate([value.body, value.gt])
    low, high = min(0.0, float(both.min())), max(0.0, float(both.max()))
    if low == 0.0 and 0.5 < high <= 1.0:
        high = 1.0
    return Axis(low, high if high > low else low + 1.0)


def bars(value: LeapHorizontalBar) -> Image:
    """Return one bar a label with its value, and a mark at the true one."""
    from PIL.ImageDraw import Draw

    chosen = top_bars(value)
    hidden = len(value.labels) - len(chosen)
    names = [fitted(value.labels[index], 200, 14) for index in chosen]
    left = int(max(text_width(name, 14) for name in names)) + 20
    width, axis = _WIDTH - _SIDE - left, bar_axis(value)
    truth = value.gt is not None
    key = legend([("value", colour_of(0)), ("ground truth", INK)], _WIDTH) if truth else blank(1, 1)
    sheet = blank(_WIDTH, 16 + _ROW * len(chosen) + (22 if hidden else 0) + key.height)
    sheet.paste(_body(value, chosen, width, _ROW), (left, 8))
    draw = Draw(sheet)
    for row, (index, name) in enumerate(zip(chosen, names, strict=True)):
        y, amount = 8 + _ROW * (row + 0.5), float(value.body[index])
        draw.text((left - 10, y), name, INK, font(14), "rm")
        draw.text((left + width + 10, y), number(amount), FAINT, font(13), "lm")
    if hidden:
        draw.text((left, 18 + _ROW * len(chosen)), f"and {hidden:,} smaller ones", FAINT, font(12), "lm")
    sheet.paste(key, (left - 4 if truth else 0, sheet.height - key.height))
    # A line where bars begin, where some go the other way.
    if axis.low < 0:
        zero = left + place(0.0, axis, width)
        draw.line((zero, 8, zero, 8 + _ROW * len(chosen)), fill=FAINT)
    return sheet


def plain_bars(value: LeapHorizontalBar, width: int, height: int) -> Image:
    """Return the bars alone over a whole sheet."""
    chosen = top_bars(value)
    return _body(value, chosen, width, max(2, height // len(chosen))).resize((width, height))


def _body(value: LeapHorizontalBar, chosen: list[int], width: int, row: int) -> Image:
    from PIL.ImageDraw import Draw

    axis, wide = bar_axis(value), 2 * width
    sheet = blank(wide, 2 * row * len(chosen))
    draw = Draw(sheet)
    zero, half = place(0.0, axis, wide), math.ceil(row * 0.3)
    for position, index in enumerate(chosen):
        middle = 2 * row * position + row
        left, right = sorted((zero, place(float(value.body[index]), axis, wide)))
        draw.rectangle((0, middle - 2 * half, wide, middle + 2 * half), fill=_TROUGH)
        draw.rectangle((left, middle - 2 * half, max(right, left + 2), middle + 2 * half), fill=colour_of(0))
        if value.gt is not None:
            mark = min(max(place(float(value.gt[index]), axis, wide), 3), wide - 4)
            draw.rectangle((mark - 3, middle - 2 * half - 6, mark + 3, middle + 2 * half + 6), fill=INK)
    return sheet.reduce(2)
