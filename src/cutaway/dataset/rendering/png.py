"""A picture of anything that a visualizer returns, as PNG: whole for a person, or small for a list of samples."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cutaway.dataset import visualizer_classes as leap
from cutaway.dataset.rendering import bars, charts, pictures, texts
from cutaway.dataset.value_range import as_bytes, scale_of
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["preview_png", "render_png"]

_FRAME_MS = 100

# Lines and letters need some pixels; what is to be smaller than this is drawn so and reduced.
_ROOM = 32


def render_png(leap_object: leap.LeapObject) -> bytes:
    """Return a picture for a person, as the bytes of a PNG file; of a video an animated one, ten frames a second.

    >>> import numpy as np
    >>> render_png(leap.LeapImage(np.zeros((28, 28, 1), np.uint8)))[1:4]
    b'PNG'
    """
    _refuse_other_types(leap_object)
    if isinstance(leap_object, leap.LeapVideo):
        first, *others = pictures.frames(leap_object)
        return _png(first, others)
    return _png(_WHOLE[type(leap_object)](leap_object))


def preview_png(leap_object: leap.LeapObject, size: int = 64) -> bytes:
    """Return a small picture, at most `size` pixels on its longer side, as the bytes of a PNG file.

    Images keep their proportions and are never enlarged; boxes, masks and the first heat map are drawn on them. Graphs,
    bars and sound are drawn without axes. Of a text its first words are shown.
    """
    if size < 1:
        raise ConfigurationError(f"`size >= 1` must hold, but got {size=}.")
    _refuse_other_types(leap_object)
    return _png(pictures.reduced(_SMALL[type(leap_object)](leap_object, size), size))


def _refuse_other_types(leap_object: object) -> None:
    if type(leap_object) not in _SMALL:
        names = ", ".join(sorted(one.__name__ for one in leap.VISUALIZER_CLASSES.values()))
        raise ConfigurationError(f"A visualizer returns one of {names}, but got {type(leap_object).__qualname__}.")


def _png(picture: Image, others: list[Image] | None = None) -> bytes:
    file = io.BytesIO()
    if others:
        picture.save(file, "PNG", save_all=True, append_images=others, duration=_FRAME_MS, loop=0)
    else:
        picture.save(file, "PNG", compress_level=6)
    return file.getvalue()


def _whole_image(value: leap.LeapImage) -> Image:
    return pictures.readable(pictures.as_picture(as_bytes(value.data)))


def _small_image(value: leap.LeapImage, _: int) -> Image:
    return pictures.as_picture(as_bytes(value.data))


def _small_video(value: leap.LeapVideo, _: int) -> Image:
    return pictures.as_picture(as_bytes(value.data[len(value.data) // 2], scale_of(value.data)))


def _small_boxes(value: leap.LeapImageWithBBox, size: int) -> Image:
    picture = pictures.reduced(pictures.as_picture(as_bytes(value.data)), size)
    return pictures.boxes_on(picture, value.bounding_boxes, width=1)


def _small_heatmap(value: leap.LeapImageWithHeatmap, size: int) -> Image:
    return pictures.heated(value, 0, size)


def _small_text(value: leap.LeapText | leap.LeapTextMask, size: int) -> Image:
    # As many lines as fit, of letters of ten pixels; a hundred tokens always fill them.
    room = max(size, _ROOM)
    tokens, colours = texts.words(value)[:100], texts.backgrounds(value)[:100]
    shown = texts.text_lines(tokens, colours, room, 10, max(1, (room - 8) // 18))
    return shown.crop((0, 0, room, min(room, shown.height)))


def _small_graph(value: leap.LeapGraph, size: int) -> Image:
    room = max(size, _ROOM)
    return charts.lines(value.data, room, room * 3 // 4)


def _small_bars(value: leap.LeapHorizontalBar, size: int) -> Image:
    room = max(size, _ROOM)
    return bars.plain_bars(value, room, room * 3 // 4)


def _small_audio(value: leap.LeapAudio, size: int) -> Image:
    room = max(size, _ROOM)
    return charts.wave(value.data, room, room // 2)


_WHOLE: dict[type[leap.LeapObject], Callable[[Any], Image]] = {
    leap.LeapImage: _whole_image,
    leap.LeapImageWithBBox: pictures.boxes,
    leap.LeapImageMask: pictures.mask_with_legend,
    leap.LeapImageWithHeatmap: pictures.heatmap_panels,
    leap.LeapGraph: charts.graph,
    leap.LeapHorizontalBar: bars.bars,
    leap.LeapText: texts.text_sheet,
    leap.LeapTextMask: texts.text_sheet,
    leap.LeapAudio: charts.waveform,
}

_SMALL: dict[type[leap.LeapObject], Callable[[Any, int], Image]] = {
    leap.LeapImage: _small_image,
    leap.LeapVideo: _small_video,
    leap.LeapImageWithBBox: _small_boxes,
    leap.LeapImageMask: pictures.masked,
    leap.LeapImageWithHeatmap: _small_heatmap,
    leap.LeapGraph: _small_graph,
    leap.LeapHorizontalBar: _small_bars,
    leap.LeapText: _small_text,
    leap.LeapTextMask: _small_text,
    leap.LeapAudio: _small_audio,
}
