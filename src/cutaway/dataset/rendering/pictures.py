"""Draws what has an image: images, masks, boxes and heat maps on them, frames of videos.

Small images are enlarged so that each pixel is a square, large ones are reduced; the values are those of
`cutaway.dataset.value_range`, never stretched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cutaway.arrays import Array, UInt8Array
from cutaway.class_colours import is_triangle
from cutaway.dataset.rendering.canvas import (
    INK,
    PAPER,
    Colour,
    blank,
    colour_of,
    colour_of_label,
    fitted,
    font,
    is_background,
    legend,
)
from cutaway.dataset.value_range import as_bytes, scale_of
from cutaway.dataset.visualizer_classes import (
    BoundingBox,
    LeapImageMask,
    LeapImageWithBBox,
    LeapImageWithHeatmap,
    LeapVideo,
)

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

__all__ = [
    "as_picture",
    "boxes",
    "boxes_on",
    "frames",
    "heated",
    "heatmap_panels",
    "mask_with_legend",
    "masked",
    "readable",
    "reduced",
    "shown_labels",
]

SMALLEST, LARGEST = 256, 1024
_PANELS, _PANEL = 12, 384
_FRAMES = 120
# Of so many pixels along a diagonal one is left out where a class has the second mark.
_STRIPE = 3


def as_picture(pixels: UInt8Array) -> Image:
    """Return pixels [H, W, C] as they are, one of them a pixel of the picture."""
    from PIL import Image

    return Image.fromarray(np.ascontiguousarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels))


def readable(picture: Image, smallest: int = SMALLEST, largest: int = LARGEST) -> Image:
    """Return a picture in a size for a person: small ones enlarged by a whole factor, large ones reduced."""
    from PIL import Image

    longest = max(picture.size)
    if longest > largest:
        return reduced(picture, largest)
    factor = max(1, math.ceil(smallest / longest))
    return picture.resize((picture.width * factor, picture.height * factor), Image.Resampling.NEAREST)


def reduced(picture: Image, longest: int) -> Image:
    """Return a picture whose longer side is at most so many pixels, its sides in proportion; small ones as they are."""
    from PIL import Image

    if max(picture.size) <= longest:
        return picture
    share = longest / max(picture.size)
    size = tuple(max(1, round(side * share)) for side in picture.size)
    return picture.resize((size[0], size[1]), Image.Resampling.BOX)


def masked(value: LeapImageMask, longest: int = LARGEST) -> Image:
    """Return the image, reduced to a longest side, with each label's pixels in its colour, half seen through."""
    from PIL import Image

    picture = reduced(as_picture(as_bytes(value.image)), longest).convert("RGB")
    pixels = np.asarray(picture)
    # A label cannot be averaged with its neighbours: the nearest is taken.
    mask = np.asarray(Image.fromarray(value.mask).resize(picture.size, Image.Resampling.NEAREST))
    colours = np.array([colour_of(index) for index in range(len(value.labels))], np.uint8)
    tinted = ((pixels.astype(np.uint16) + colours[mask]) // 2).astype(np.uint8)
    nothing = np.array([is_background(label) for label in value.labels])[mask]
    # Classes that share a colour are told apart by stripes.
    striped = np.array([is_triangle(index) for index in range(len(value.labels))])[mask]
    gaps = np.indices(mask.shape).sum(axis=0) % _STRIPE == 0
    return as_picture(np.where((nothing | striped & gaps)[..., np.newaxis], pixels, tinted))


def mask_with_legend(value: LeapImageMask) -> Image:
    """Return the image under its mask, and below it the labels that are in it."""
    return _stacked([readable(masked(value)), legend(shown_labels(value.mask, value.labels, striped=True), SMALLEST)])


def shown_labels(mask: Array, labels: Sequence[str], *, striped: bool = False) -> list[tuple[str, Colour]]:
    """Return the labels that a mask uses, with their colours, and whether they are striped; background has none."""
    present = [int(index) for index in np.unique(mask) if not is_background(labels[index])]
    said = {index: " (striped)" if striped and is_triangle(index) else "" for index in present}
    return [(labels[index] + said[index], colour_of(index)) for index in present]


def boxes(value: LeapImageWithBBox) -> Image:
    """Return the image with its boxes, each with its label and confidence."""
    from PIL.ImageDraw import Draw

    picture = boxes_on(readable(as_picture(as_bytes(value.data))), value.bounding_boxes, width=3)
    draw = Draw(picture)
    for box in value.bounding_boxes:
        _tag(draw, picture, box)
    return picture


def boxes_on(picture: Image, given: Sequence[BoundingBox], width: int) -> Image:
    """Return a picture with the outlines of boxes on it."""
    from PIL.ImageDraw import Draw

    drawn = picture.convert("RGB")
    draw = Draw(drawn)
    for box in given:
        corners = _corners(box, *drawn.size)
        draw.line([*corners, *corners[:2]], fill=colour_of_label(box.label), width=width, joint="curve")
    return drawn


def heated(value: LeapImageWithHeatmap, index: int, longest: int = LARGEST) -> Image:
    """Return the image in grey, reduced to a longest side, with one heat map over it: warm positive, blue negative."""
    from PIL import Image

    picture = reduced(as_picture(as_bytes(value.image)), longest).convert("L")
    grey = np.asarray(picture, np.float32)[..., np.newaxis]
    strongest = float(np.abs(value.heatmaps).max()) or 1.0
    heat = Image.fromarray((value.heatmaps[index] / strongest).astype(np.float32))
    strength = np.asarray(heat.resize(picture.size, Image.Resampling.BILINEAR)).clip(-1, 1)[..., np.newaxis]
    warm = np.concatenate([np.full_like(strength, 255), 210 * (1 - strength), np.zeros_like(strength)], axis=-1)
    colour = np.where(strength >= 0, warm, np.array([20, 90, 255], np.float32))
    share = 0.75 * np.abs(strength)
    return as_picture(np.asarray(grey * (1 - share) + colour * share, np.uint8))


def heatmap_panels(value: LeapImageWithHeatmap) -> Image:
    """Return the image once for each heat map, side by side; one scale for all, so that they compare."""
    from PIL.ImageDraw import Draw

    strongest = float(np.abs(value.heatmaps).max())
    count = min(len(value.labels), _PANELS)
    panels = [readable(heated(value, index, _PANEL), 192, _PANEL) for index in range(count)]
    width, height = max(192, panels[0].width), panels[0].height
    columns = min(count, max(1, LARGEST // width), math.ceil(math.sqrt(count)))
    rows = math.ceil(count / columns)
    sheet = blank(columns * (width + 8) - 8, rows * (height + 28) + 22)
    draw = Draw(sheet)
    for index, panel in enumerate(panels):
        left, top = index % columns * (width + 8), index // columns * (height + 28)
        sheet.paste(panel, (left, top))
        draw.text((left + 4, top + height + 12), fitted(value.labels[index], width - 8, 14), INK, font(14), "lm")
    more = f", {count} of {len(value.labels)} shown" if count < len(value.labels) else ""
    note = f"strongest: {strongest:.3g}{more}"
    draw.text((4, sheet.height - 12), fitted(note, sheet.width - 8, 12), INK, font(12), "lm")
    return sheet


def frames(value: LeapVideo, longest: int = 512) -> list[Image]:
    """Return the frames of a video in a size for a person; of long ones, as many as are bearable, evenly chosen."""
    count = len(value.data)
    chosen = np.unique(np.linspace(0, count - 1, min(count, _FRAMES)).round().astype(int))
    scale = scale_of(value.data)
    pictures = (as_picture(as_bytes(value.data[index], scale)) for index in chosen)
    return [readable(picture, SMALLEST, longest).convert("RGB") for picture in pictures]


def _corners(box: BoundingBox, width: int, height: int) -> list[tuple[float, float]]:
    angle = math.radians(box.rotation)
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2 * [box.width * width, box.height * height]
    points = half @ turn + [box.x * width, box.y * height]
    return [(float(x), float(y)) for x, y in points]


def _tag(draw: ImageDraw, picture: Image, box: BoundingBox) -> None:
    text = fitted(f"{box.label} {box.confidence:.2f}", picture.width - 8, 13)
    corners = _corners(box, *picture.size)
    left, top = min(x for x, _ in corners), min(y for _, y in corners) - 18
    wide = font(13).getlength(text) + 8
    left, top = min(max(0.0, left - 1), max(0.0, picture.width - wide)), min(max(0.0, top), picture.height - 18.0)
    draw.rectangle((left, top, left + wide, top + 18), fill=colour_of_label(box.label))
    draw.text((left + 4, top + 9), text, PAPER, font(13), "lm")


def _stacked(parts: Sequence[Image]) -> Image:
    sheet = blank(max(part.width for part in parts), sum(part.height for part in parts))
    top = 0
    for part in parts:
        sheet.paste(part, (0, top))
        top += part.height
    return sheet
