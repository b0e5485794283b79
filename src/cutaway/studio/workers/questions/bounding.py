"""What a visualizer returned, cut down to what a page can show: large images, long texts, films and curves.

Whatever is left out is said in words, never in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import visualizer_classes as leap
from cutaway.dataset.rendering.typed import typed_data

__all__ = ["bounded_data"]

LONGEST_SIDE = 2_048
# Frames are many, so each is smaller.
LONGEST_SIDE_OF_FRAME = 512
MOST_FRAMES = 64
MOST_TOKENS = 20_000
MOST_POINTS = 50_000
MOST_BARS = 5_000
MOST_AUDIO = 2_000_000
# As text, with everything that belongs to it.
MOST_BYTES = 24 << 20

Notes = list[str]
T = TypeVar("T", bound=Any)


def bounded_data(visual: leap.LeapObject) -> dict[str, Any]:
    """Return what a visualizer returned as plain data, no more of it than a page can show; `notes` say what is not."""
    notes: Notes = []
    bound = _BOUNDS.get(type(visual))
    data = typed_data(visual if bound is None else bound(visual, notes))
    size = len(json.dumps(data))
    if size > MOST_BYTES:
        message = f"it has {size:,} bytes, and a page gets at most {MOST_BYTES:,}. Let the visualizer return less."
        raise ValueError(message)
    return {**data, "notes": notes}


def _smaller(pixels: Array, notes: Notes, longest: int | None = None, first: int = 0) -> tuple[Array, int]:
    """Return pixels whose sides from axis `first` on are at most `longest`, as means, and by how much they shrank."""
    height, width = pixels.shape[first : first + 2]
    step = -(-max(height, width) // (longest or LONGEST_SIDE))
    if step <= 1:
        return pixels, 1
    rows, columns = height // step * step, width // step * step
    if not rows or not columns:  # thinner than one step: every n-th pixel instead of means
        short = pixels[(slice(None),) * first + (slice(None, None, step), slice(None, None, step))]
    else:
        cut = pixels[(slice(None),) * first + (slice(0, rows), slice(0, columns))]
        shape = (*cut.shape[:first], rows // step, step, columns // step, step, *cut.shape[first + 2 :])
        short = cut.reshape(shape).mean(axis=(first + 1, first + 3)).astype(pixels.dtype)
    made = f"{short.shape[first + 1]} x {short.shape[first]}"
    notes.append(f"Shown smaller: {width} x {height} pixels as {made}.")
    return short, step


def _image(visual: leap.LeapImage | leap.LeapImageWithBBox, notes: Notes) -> Any:
    return replace(visual, data=_smaller(visual.data, notes)[0])


def _mask(visual: leap.LeapImageMask, notes: Notes) -> leap.LeapImageMask:
    image, step = _smaller(visual.image, notes)
    height, width = image.shape[:2]
    return replace(visual, image=image, mask=visual.mask[::step, ::step][:height, :width])


def _with_heat(visual: leap.LeapImageWithHeatmap, notes: Notes) -> leap.LeapImageWithHeatmap:
    image, _ = _smaller(visual.image, notes)
    heat, _ = _smaller(visual.heatmaps, [], first=1)
    return replace(visual, image=image, heatmaps=heat)


def _video(visual: leap.LeapVideo, notes: Notes) -> leap.LeapVideo:
    frames = visual.data
    if len(frames) > MOST_FRAMES:
        chosen = np.linspace(0, len(frames) - 1, MOST_FRAMES).round().astype(int)
        notes.append(f"{MOST_FRAMES} of {len(frames):,} frames are shown, at even distances.")
        frames = frames[chosen]
    return replace(visual, data=_smaller(frames, notes, LONGEST_SIDE_OF_FRAME, first=1)[0])


def _beginning(count: int, most: int, what: str, notes: Notes) -> slice:
    """Return where to cut what is too long to be shown."""
    if count > most:
        notes.append(f"The first {most:,} of {count:,} {what} are shown.")
    return slice(most)


def _text(visual: leap.LeapText, notes: Notes) -> leap.LeapText:
    shown = _beginning(len(visual.data), MOST_TOKENS, "tokens", notes)
    heat = None if visual.heatmap is None else visual.heatmap[shown]
    return replace(visual, data=list(visual.data[shown]), heatmap=heat)


def _text_mask(visual: leap.LeapTextMask, notes: Notes) -> leap.LeapTextMask:
    shown = _beginning(len(visual.text), MOST_TOKENS, "tokens", notes)
    return replace(visual, text=list(visual.text[shown]), mask=visual.mask[shown])


def _graph(visual: leap.LeapGraph, notes: Notes) -> leap.LeapGraph:
    step = -(-len(visual.data) // MOST_POINTS)
    if step <= 1:
        return visual
    notes.append(f"One in {step} of {len(visual.data):,} points is shown.")
    return replace(visual, data=visual.data[::step])


def _bars(visual: leap.LeapHorizontalBar, notes: Notes) -> leap.LeapHorizontalBar:
    shown = _beginning(len(visual.labels), MOST_BARS, "bars", notes)
    truth = None if visual.gt is None else visual.gt[shown]
    return replace(visual, body=visual.body[shown], labels=list(visual.labels[shown]), gt=truth)


def _audio(visual: leap.LeapAudio, notes: Notes) -> leap.LeapAudio:
    if len(visual.data) <= MOST_AUDIO:
        return visual
    heard = MOST_AUDIO / visual.sample_rate
    notes.append(f"The first {heard:.0f} s of {len(visual.data) / visual.sample_rate:.0f} s can be heard.")
    return replace(visual, data=visual.data[:MOST_AUDIO])


_BOUNDS: dict[type[Any], Callable[[Any, Notes], Any]] = {
    leap.LeapImage: _image,
    leap.LeapImageWithBBox: _image,
    leap.LeapImageMask: _mask,
    leap.LeapImageWithHeatmap: _with_heat,
    leap.LeapVideo: _video,
    leap.LeapText: _text,
    leap.LeapTextMask: _text_mask,
    leap.LeapGraph: _graph,
    leap.LeapHorizontalBar: _bars,
    leap.LeapAudio: _audio,
}
