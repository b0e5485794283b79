"""Puts a heat map and a picture of its sample together: an image under it, words before it, lines on it.

Takes any picture that a visualizer returned whose places are those of the map, and makes one from the sample's own
numbers where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.heat_maps.drawing_paint import Ends, paint, paint_series
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.arrays import Array, Float32Array
from cutaway.dataset import visualizer_classes as leap
from cutaway.dataset.default_visualizers import guess_visualizer
from cutaway.dataset.enums import DatasetInputType
from cutaway.dataset.functions import Field

__all__ = ["DrawnMap", "default_picture", "ends_of", "finite", "joined", "spread_over"]


# One place that is far stronger than all others would leave them uncoloured.
_STRONGEST, _MANY = 0.995, 200
_PADDING = 0


@dataclass(frozen=True)
class DrawnMap:
    """A heat map over its sample. `visual` is what people see; a series has its `heat` beside it, one value a time.

    `ends` says what the lowest and highest colour mean; `notes` what could not be drawn as it was meant.
    """

    visual: leap.LeapObject
    ends: Ends
    heat: Float32Array | None = None
    notes: tuple[str, ...] = ()

    def png(self) -> bytes:
        """Return the picture, with a key of its colours."""
        if self.heat is not None and isinstance(self.visual, leap.LeapGraph):
            return paint_series(self.visual, self.heat, self.ends)
        return paint(self.visual, self.ends)


def joined(visual: leap.LeapObject, heat: Float32Array, one: HeatMap, sample: Array) -> DrawnMap | None:
    """Return a picture with heat over it; None where the places of the two do not fit each other."""
    ends = ends_of(one)
    if isinstance(visual, leap.LeapImage | leap.LeapImageWithBBox):
        return _on_image(visual.data, heat, ends)
    if isinstance(visual, leap.LeapImageMask | leap.LeapImageWithHeatmap):
        return _on_image(visual.image, heat, ends)
    if isinstance(visual, leap.LeapText | leap.LeapTextMask):
        tokens = list(visual.text if isinstance(visual, leap.LeapTextMask) else visual.data)
        found = _for_tokens(tokens, heat.reshape(-1), sample)
        return None if found is None else DrawnMap(leap.LeapText(tokens, _clipped(found)), ends)
    if isinstance(visual, leap.LeapGraph) and len(visual.data) == len(heat) and heat.ndim <= 2:
        along = heat if heat.ndim == 1 else heat.mean(axis=1)
        return DrawnMap(visual, ends, _clipped(along))
    if isinstance(visual, leap.LeapHorizontalBar) and visual.body.size == heat.size:
        return DrawnMap(leap.LeapHorizontalBar(heat.reshape(-1), visual.labels), ends)
    return None


def default_picture(field: Field, sample: Array, one: HeatMap) -> DrawnMap:
    """Return a map over a picture of the sample's own numbers."""
    values, heat, notes = _slice(np.asarray(sample), finite(one.values))
    visual = _suggested(field, values, heat)
    drawn = None if visual is None else joined(visual, heat, one, values)
    if drawn is None:
        drawn = joined(_plain(values, heat), heat, one, values)
    if drawn is None:
        drawn = DrawnMap(leap.LeapHorizontalBar(heat.reshape(-1), [str(i) for i in range(heat.size)]), ends_of(one))
    return DrawnMap(drawn.visual, drawn.ends, drawn.heat, (*drawn.notes, *notes))


def spread_over(sample: Array, one: HeatMap) -> Float32Array:
    """Return the values of a map with as many axes as the sample has: one channel where that has channels."""
    heat, shape = finite(one.values), np.asarray(sample).shape
    axis = channel_of(shape, heat.shape)
    return heat if axis is None else np.expand_dims(heat, axis)


def channel_of(shape: tuple[int, ...], places: tuple[int, ...]) -> int | None:
    """Return which axis of a sample the places of its map leave out; the last where several could be."""
    if len(shape) != len(places) + 1:
        return None
    fitting = [axis for axis in range(len(shape)) if shape[:axis] + shape[axis + 1 :] == places]
    return max(fitting, default=None)


def _suggested(field: Field, values: Array, heat: Float32Array) -> leap.LeapObject | None:
    """What the default visualizers make of the sample. Whole numbers in a row are tokens."""
    words = values.ndim == 1 and (values.dtype.kind in "iub" or field.type == DatasetInputType.Text)
    if words:
        return leap.LeapText([str(token) for token in values.tolist()])
    if heat.ndim == 1 and values.ndim == 2 and channel_of(values.shape, heat.shape) == 0:
        values = values.T
    guessed = guess_visualizer(field, values)
    if guessed.name == "RawData":
        return None
    made: leap.LeapObject = guessed.function(values)
    return made


def _plain(values: Array, heat: Float32Array) -> leap.LeapObject:
    """Grey for two axes of places and lines for one, whatever the number of channels."""
    axis = channel_of(values.shape, heat.shape)
    if heat.ndim == 1:
        lines = values if axis is None else np.moveaxis(values, axis, -1)
        return leap.LeapGraph(lines.reshape(len(heat), -1).astype(np.float32))
    grey = (values if axis is None else values.mean(axis=axis)).astype(np.float32)
    low, high = float(grey.min()), float(grey.max())
    return leap.LeapImage(((grey - low) / ((high - low) or 1.0))[..., np.newaxis])


def _slice(values: Array, heat: Float32Array) -> tuple[Array, Float32Array, tuple[str, ...]]:
    """Of a volume, the slice along its first places that has the most heat; all of anything else."""
    if heat.ndim <= 2:
        return values, heat, ()
    axis = channel_of(values.shape, heat.shape)
    values = values if axis is None else np.moveaxis(values, axis, -1)
    while heat.ndim > 2:
        at = int(np.abs(heat).reshape(len(heat), -1).sum(axis=1).argmax())
        words = f"Slice {at} of {len(heat)} is shown, which has the most heat."
        values, heat = values[at], heat[at]
    return values, heat, (words,)


def _on_image(image: Array, heat: Float32Array, ends: Ends) -> DrawnMap | None:
    flat = heat.squeeze()
    if flat.ndim != 2 or not _same_proportions(flat.shape, image.shape[:2]):
        return None
    return DrawnMap(leap.LeapImageWithHeatmap(image, _clipped(flat)[np.newaxis], [_said(ends)]), ends)


def _same_proportions(places: tuple[int, ...], image: tuple[int, ...]) -> bool:
    """Whether a map can lie over an image: of its size, or coarser or finer by the same factor along both axes."""
    return abs(places[0] * image[1] - places[1] * image[0]) <= max(*places, *image)


def _for_tokens(tokens: list[str], heat: Float32Array, sample: Array) -> Float32Array | None:
    """Heat for each word: one a token, or one for each token that is no padding where a visualizer leaves that out."""
    if len(tokens) == len(heat):
        return heat
    known = np.asarray(sample).reshape(-1)
    if known.dtype.kind not in "iuf" or len(known) != len(heat):
        return None
    words = known != _PADDING
    return heat[words] if words.sum() == len(tokens) else None


def _clipped(heat: Float32Array) -> Float32Array:
    strength = np.abs(heat)
    most = float(np.quantile(strength, _STRONGEST)) if heat.size > _MANY else 0.0
    return heat if most == 0 else np.clip(heat, -most, most).astype(np.float32)


def finite(values: Float32Array) -> Float32Array:
    """Return a map without colour where it is not known."""
    return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)


def ends_of(one: HeatMap) -> Ends:
    """Return what the lowest and highest colour of a map mean."""
    if one.loss is not None:
        return ("lowers the loss", "raises the loss") if one.signed else (None, "matters to the loss")
    return ("against it", "for it") if one.signed else (None, "much")


def _said(ends: Ends) -> str:
    low, high = ends
    return f"warm: {high}" + (f", blue: {low}" if low else "")
