"""Draws text: its tokens in lines, with the colour of their heat or label behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cutaway.dataset.rendering.canvas import (
    FAINT,
    INK,
    PAPER,
    Colour,
    blank,
    colour_of,
    fitted,
    font,
    is_background,
    legend,
    text_width,
)
from cutaway.dataset.rendering.pictures import shown_labels
from cutaway.dataset.visualizer_classes import LeapText, LeapTextMask

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["backgrounds", "text_lines", "text_sheet", "words"]

_WIDTH, _SIZE, _LINE, _LINES = 640, 16, 28, 40


class _Placed(NamedTuple):
    x: float
    line: int
    width: float
    text: str
    colour: Colour


def backgrounds(value: LeapText | LeapTextMask) -> list[Colour]:
    """Return the colour behind each token: red by its positive heat, blue by its negative one, or that of its label."""
    if isinstance(value, LeapTextMask):
        colours = [PAPER if is_background(label) else _pale(colour_of(i), 0.35) for i, label in enumerate(value.labels)]
        return [colours[index] for index in value.mask]
    if value.heatmap is None:
        return [PAPER] * len(value.data)
    strongest = float(np.abs(value.heatmap).max()) or 1.0
    warm, cold = (230, 60, 30), (40, 110, 240)
    return [_pale(warm if heat > 0 else cold, 0.7 * abs(float(heat)) / strongest) for heat in value.heatmap]


def words(value: LeapText | LeapTextMask) -> Sequence[str]:
    """Return the tokens."""
    return value.text if isinstance(value, LeapTextMask) else value.data


def text_sheet(value: LeapText | LeapTextMask) -> Image:
    """Return the text, and below it the labels that are in it."""
    sheet = text_lines(words(value), backgrounds(value), _WIDTH, _SIZE, _LINES)
    if not isinstance(value, LeapTextMask):
        return sheet
    key = legend(shown_labels(value.mask, value.labels), _WIDTH - 16)
    whole = blank(_WIDTH, sheet.height + key.height + 8)
    whole.paste(sheet, (0, 0))
    whole.paste(key, (8, sheet.height))
    return whole


def text_lines(tokens: Sequence[str], colours: Sequence[Colour], width: int, size: int, most: int) -> Image:
    """Return tokens in at most so many lines; how many are left out is said in the last."""
    from PIL.ImageDraw import Draw

    margin, line = size // 2, round(size * 1.75)
    placed, taken = _laid_out(tokens, colours, width - 2 * margin, size, most)
    left = sum(1 for token in tokens[taken:] if token)
    count = max((one.line for one in placed), default=0) + 1
    sheet = blank(width, (count + bool(left)) * line + 2 * margin)
    draw = Draw(sheet)
    for one in placed:
        x, top = margin + one.x, margin + one.line * line
        if one.colour != PAPER:
            draw.rounded_rectangle((x - 2, top + 2, x + one.width + 2, top + line - 3), 4, fill=one.colour)
        draw.text((x, top + line / 2), one.text, INK, font(size), "lm")
    if not placed:
        draw.text((margin, margin + line / 2), "(no text)", FAINT, font(size), "lm")
    if left:
        note = fitted(f"… and {left:,} more tokens", width - 2 * margin, size)
        draw.text((margin, margin + (count + 0.5) * line), note, FAINT, font(size), "lm")
    return sheet


def _laid_out(
    tokens: Sequence[str], colours: Sequence[Colour], width: float, size: int, most: int
) -> tuple[list[_Placed], int]:
    """Return where each token goes, and how many were looked at before the lines were full."""
    placed: list[_Placed] = []
    x, line, space = 0.0, 0, text_width(" ", size) + 4
    for index, (token, colour) in enumerate(zip(tokens, colours, strict=True)):
        if not token:  # padding
            continue
        text = fitted(token, width, size)
        needed = text_width(text, size)
        if x and x + needed > width:
            x, line = 0.0, line + 1
        if line >= most:
            return placed, index
        placed.append(_Placed(x, line, needed, text, colour))
        x += needed + space
    return placed, len(tokens)


def _pale(colour: Colour, share: float) -> Colour:
    red, green, blue = (round(255 + (part - 255) * share) for part in colour)
    return red, green, blue
