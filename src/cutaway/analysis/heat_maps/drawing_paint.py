"""Paints heat over an image, behind the lines of a series and behind words, with a key that says what colours mean.

Warm colours speak for what is explained and blue against it, which people who see colours differently tell apart too.
A map without a sign has the warm colours alone.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from cutaway.arrays import Float32Array, Float64Array, UInt8Array
from cutaway.dataset.rendering.axes import Axis, framed
from cutaway.dataset.rendering.bars import bars
from cutaway.dataset.rendering.canvas import INK, blank, colour_of, fitted, font, legend
from cutaway.dataset.rendering.charts import lines
from cutaway.dataset.rendering.pictures import LARGEST, as_picture, readable, reduced
from cutaway.dataset.rendering.texts import backgrounds, text_sheet
from cutaway.dataset.value_range import as_bytes
from cutaway.dataset.visualizer_classes import LeapGraph, LeapHorizontalBar, LeapImageWithHeatmap, LeapObject, LeapText

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Ends", "paint", "paint_series"]

# What the ends of the key are called: the low one, None where the map has no sign, and the high one.
Ends = tuple[str | None, str]

# The greys of an image under its heat, and the colours from weak to strong.
_DARKEST, _LIGHTEST = 40.0, 205.0
_WARM = (np.array([255.0, 200.0, 60.0]), np.array([210.0, 30.0, 10.0]))
_COLD = (np.array([130.0, 190.0, 255.0]), np.array([10.0, 60.0, 215.0]))
_BAR, _WORDS, _MARGIN = 10, 22, 4
_NARROWEST = 200
_NAMED = 10


def paint(visual: LeapObject, ends: Ends) -> bytes:
    """Return a PNG of an image, words or bars with their heat; of anything else, that thing itself."""
    if isinstance(visual, LeapImageWithHeatmap):
        picture = readable(_heated(visual))
        return _png(_with_key(picture, _image_key(ends, picture.width), ends))
    if isinstance(visual, LeapText):
        sheet = text_sheet(visual)
        return _png(_with_key(sheet, _word_key(ends, min(sheet.width, 320)), ends))
    if isinstance(visual, LeapHorizontalBar):
        return _png(bars(visual))
    from cutaway.dataset.rendering import render_png

    return render_png(visual)


def paint_series(visual: LeapGraph, heat: Float32Array, ends: Ends) -> bytes:
    """Return a PNG of the lines of a series, over columns in the colours of the heat at each time."""
    points, traces = visual.data.shape
    first, last = visual.x_range or (0.0, max(1.0, points - 1.0))
    up = _axis(visual.data.astype(np.float64), visual.y_label or "")
    entries = [(f"trace {index}", colour_of(index)) for index in range(min(traces, _NAMED))]

    def plot(width: int, height: int, grid: tuple[float, ...]) -> Image:
        return _over(lines(visual.data, width, height, up, grid), _columns(heat, width))

    key = legend(entries, 560) if traces > 1 else None
    sheet = framed(plot, Axis(first, last, visual.x_label or ""), up, key)
    return _png(_with_key(sheet, _word_key(ends, 320), ends))


def _over(drawn: Image, columns: UInt8Array) -> Image:
    """Lay lines on white over coloured columns: what is darker of the two is seen."""
    from PIL import Image

    return Image.fromarray(np.minimum(np.asarray(drawn), columns[np.newaxis]))


def _columns(heat: Float32Array, width: int) -> UInt8Array:
    """Return the colour of each column of a plot; of several times in one column, that of the strongest."""
    at = np.minimum(np.arange(width) * len(heat) // width, len(heat) - 1)
    if len(heat) > width:
        starts = np.unique(np.arange(width) * len(heat) // width)
        low, high = np.minimum.reduceat(heat, starts), np.maximum.reduceat(heat, starts)
        shown = np.where(-low > high, low, high)
    else:
        shown = heat[at]
    return np.array(backgrounds(LeapText([""] * len(shown), shown.astype(np.float32))), np.uint8)


def _axis(data: Float64Array, label: str) -> Axis:
    known = data[np.isfinite(data)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    air = (high - low) * 0.06 or 1.0
    return Axis(low - air, high + air, label)


def _heated(visual: LeapImageWithHeatmap) -> Image:
    """Return the image in muted greys under its heat: colours show on black and on white, and weak ones too."""
    from PIL import Image

    picture = reduced(as_picture(as_bytes(visual.image)), LARGEST).convert("L")
    grey = _DARKEST + (_LIGHTEST - _DARKEST) / 255 * np.asarray(picture, np.float32)
    heat = visual.heatmaps[0] / (float(np.abs(visual.heatmaps[0]).max()) or 1.0)
    fine = Image.fromarray(heat.astype(np.float32)).resize(picture.size, Image.Resampling.BILINEAR)
    return Image.fromarray(_coloured(grey, np.asarray(fine)))


def _coloured(grey: Float32Array, strength: Float32Array) -> UInt8Array:
    """Lay the colours of strengths from -1 to 1 over grey; the stronger, the less of it is seen."""
    size = np.abs(strength).clip(0, 1)[..., np.newaxis]
    weak, strong = (np.where(strength[..., np.newaxis] >= 0, *pair) for pair in zip(_WARM, _COLD, strict=True))
    share = 0.8 * size**0.7
    mixed = grey[..., np.newaxis] * (1 - share) + (weak + (strong - weak) * size) * share
    return np.asarray(mixed.clip(0, 255), np.uint8)


def _image_key(ends: Ends, width: int) -> Image:
    """The colours as they lie over the middle of grey."""
    from PIL import Image

    steps = _steps(ends, max(width, _NARROWEST))[np.newaxis]
    return Image.fromarray(_coloured(np.full_like(steps, (_DARKEST + _LIGHTEST) / 2), steps))


def _word_key(ends: Ends, width: int) -> Image:
    from PIL import Image

    steps = _steps(ends, width)
    colours = np.array(backgrounds(LeapText([""] * width, steps)), np.uint8)
    return Image.fromarray(colours[np.newaxis])


def _steps(ends: Ends, width: int) -> Float32Array:
    return np.linspace(0 if ends[0] is None else -1, 1, width, dtype=np.float32)


def _with_key(picture: Image, key: Image, ends: Ends) -> Image:
    """Put a strip with the colours and the words for its ends below a picture."""
    from PIL.ImageDraw import Draw

    width = max(picture.width, key.width)
    sheet = blank(width, picture.height + 2 * _MARGIN + _BAR + _WORDS)
    sheet.paste(picture.convert("RGB"), (0, 0))
    top = picture.height + _MARGIN
    sheet.paste(key.convert("RGB").resize((key.width, _BAR)), (0, top))
    draw = Draw(sheet)
    low, high = ends
    middle = top + _BAR + _WORDS // 2
    draw.text((_MARGIN, middle), fitted(low or "little", key.width / 2 - 8, 12), INK, font(12), "lm")
    draw.text((key.width - _MARGIN, middle), fitted(high, key.width / 2 - 8, 12), INK, font(12), "rm")
    return sheet


def _png(picture: Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()
