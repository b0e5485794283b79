"""The visualizers that show an input which nobody wrote one for, and which of them shows which.

They take one sample without its batch axis, bring it into the shape that its class wants where that loses nothing, and
leave the rest to the class: an array that is no image is refused, not stretched into one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.enums import DatasetInputType, LeapDataType
from cutaway.dataset.functions import Field, Visualizer
from cutaway.dataset.visualizer_classes import (
    LeapGraph,
    LeapHorizontalBar,
    LeapImage,
    LeapObject,
    LeapText,
)

__all__ = ["guess_visualizer"]

_FEW_BARS, _NARROW, _RAW_VALUES = 32, 8, 200


def guess_visualizer(field: Field, sample: Array) -> Visualizer:
    """Return the default visualizer for an input or ground truth of which this is one sample.

    The first of these that holds decides; declarations come before shapes:

    1. texts, or a field declared as text: `Text`;
    2. a field declared as an image, [H, W] with at least 8 rows and columns, or [H, W, C] with 1 or 3 channels, which
       lie where `channel_dim` says: `Image`;
    3. one axis: `HorizontalBar` up to 32 values, or where every value has a label; otherwise `Graph`;
    4. two axes, fewer than 8 wide: `Graph`;
    5. anything else: `RawData`.

    >>> guess_visualizer(Field("image", channel_dim=1), np.zeros((3, 32, 32), np.float32)).name
    'Image'
    """
    values = np.asarray(sample)
    if field.type == DatasetInputType.Text or values.dtype.kind in "USO":
        return _visualizer_of_data("Text", show_text, LeapDataType.Text)
    if field.type == DatasetInputType.Image or _is_image(values, field.channel_dim):
        return _visualizer_of_data("Image", partial(show_image, channel_dim=field.channel_dim), LeapDataType.Image)
    if values.ndim == 1 and values.size and (len(values) <= _FEW_BARS or len(values) == len(field.labels)):
        return _visualizer_of_data("HorizontalBar", partial(show_bars, labels=field.labels), LeapDataType.HorizontalBar)
    if values.size and (values.ndim == 1 or (values.ndim == 2 and values.shape[1] < _NARROW)):
        return _visualizer_of_data("Graph", show_graph, LeapDataType.Graph)
    return _visualizer_of_data("RawData", show_raw_data, LeapDataType.Text)


def show_image(data: Array, *, channel_dim: int = -1) -> LeapImage:
    """Show [H, W], or [H, W, C] with 1 or 3 channels; `channel_dim=1` says that channels come first."""
    pixels = np.asarray(data)
    if pixels.ndim == 2:
        pixels = pixels[..., np.newaxis]
    elif pixels.ndim == 3 and _channels_first(channel_dim):
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.dtype == np.bool_:
        return LeapImage(pixels.astype(np.uint8) * np.uint8(255))
    whole = pixels.dtype.kind in "iu" and pixels.size
    return LeapImage(pixels.astype(np.uint8) if whole and pixels.min() >= 0 and pixels.max() <= 255 else pixels)


def show_graph(data: Array) -> LeapGraph:
    """Show [M] as one line, or [M, N] as N lines of M points."""
    values = np.asarray(data)
    return LeapGraph(_floats(values[:, np.newaxis] if values.ndim == 1 else values))


def show_raw_data(data: Array) -> LeapText:
    """Show dtype, shape and values as text, of more than 200 values the first and last."""
    values = np.asarray(data)
    text = np.array2string(values, threshold=_RAW_VALUES, edgeitems=10, precision=5)
    return LeapText([str(values.dtype), str(values.shape), *text.split()])


def show_bars(data: Array, *, labels: tuple[str, ...] = ()) -> LeapHorizontalBar:
    """Show one bar a value, called by its label or its index."""
    values = _floats(np.asarray(data).reshape(-1))
    names = labels if len(labels) == len(values) else tuple(str(index) for index in range(len(values)))
    return LeapHorizontalBar(values, names)


def show_text(data: Array) -> LeapText:
    """Show texts as tokens, one whole text split at its spaces, and numbers (indices of words) as they are."""
    return LeapText(_tokens(data))


def _is_image(values: Array, channel_dim: int) -> bool:
    if values.dtype.kind not in "fiub":
        return False
    if values.ndim == 2:
        return all(side >= _NARROW for side in values.shape)
    return values.ndim == 3 and values.size > 0 and values.shape[0 if _channels_first(channel_dim) else -1] in (1, 3)


def _channels_first(channel_dim: int) -> bool:
    """Whether channels come first in a sample of three axes: `channel_dim` counts the batch, or leaves it out."""
    return channel_dim in (0, 1)


def _floats(values: Array) -> Array:
    return values if values.dtype.kind == "f" else values.astype(np.float32)


def _tokens(data: object) -> list[str]:
    values = np.asarray(data)
    if values.ndim == 0 and isinstance(values.item(), str | bytes):
        return _word(values.item()).split()
    return [_word(value) for value in values.reshape(-1).tolist()]


def _word(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _visualizer_of_data(name: str, function: Callable[..., LeapObject], kind: LeapDataType) -> Visualizer:
    return Visualizer(name, function, ("data",), visualizer_type=kind)
