"""What a visualizer returned as plain data that JSON can hold, for a page that draws it itself.

Every value has `type`, a `LeapDataType`. An array is `{"dtype", "shape", "data"}`: the name of its dtype, its shape,
and its values as base64 of little-endian bytes in C order. Images also have `scale`, the values that are shown black
and white.
"""

from __future__ import annotations

import base64
import io
import math
import wave
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import visualizer_classes as leap
from cutaway.dataset.value_range import scale_of
from cutaway.dataset.visualizer_classes import LeapAudio
from cutaway.errors import ConfigurationError

__all__ = ["array_data", "typed_data", "wav_bytes"]

Data = dict[str, Any]


def typed_data(leap_object: leap.LeapObject) -> Data:
    """Return what a visualizer returned as plain data: dictionaries, lists, texts and numbers.

    >>> typed_data(leap.LeapText(["a", "b"]))
    {'type': 'Text', 'tokens': ['a', 'b'], 'heatmap': None}
    """
    make = _MAKERS.get(type(leap_object))
    if make is None:
        raise ConfigurationError(f"There is no visualizer type for {type(leap_object).__qualname__}.")
    return {"type": leap_object.type.value, **make(leap_object)}


def array_data(values: Array) -> Data:
    """Return an array as its dtype, shape and base64 bytes.

    >>> array_data(np.array([1, 2], np.uint8))
    {'dtype': 'uint8', 'shape': [2], 'data': 'AQI='}
    """
    dtype = values.dtype.newbyteorder("<")
    raw = np.ascontiguousarray(values, dtype).tobytes()
    return {"dtype": dtype.name, "shape": list(values.shape), "data": base64.b64encode(raw).decode()}


def _image(image: Array) -> Data:
    black, white = scale_of(image)
    return {**array_data(image), "scale": [black, white]}


def _box(box: leap.BoundingBox) -> Data:
    names = ("x", "y", "width", "height", "confidence", "rotation")
    numbers = {name: float(getattr(box, name)) for name in names}
    return {**numbers, "label": box.label, "metadata": _as_json(dict(box.metadata or {}))}


def _as_json(value: object) -> object:
    """Return somebody's metadata as JSON can hold it: numbers that are not finite are None, other objects texts."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    return str(value)


def _maybe(values: Array | None) -> Data | None:
    return None if values is None else array_data(values)


def _graph(value: leap.LeapGraph) -> Data:
    span = None if value.x_range is None else [float(end) for end in value.x_range]
    return {"data": array_data(value.data), "x_label": value.x_label, "y_label": value.y_label, "x_range": span}


def _audio(value: leap.LeapAudio) -> Data:
    wav = base64.b64encode(wav_bytes(value)).decode()
    return {"data": array_data(value.data), "sample_rate": int(value.sample_rate), "wav": wav}


def _texts(values: Sequence[str]) -> list[str]:
    # A lone surrogate is no text that JSON could send as UTF-8.
    return [value.encode("utf-8", "replace").decode() for value in values]


_MAKERS: dict[type[leap.LeapObject], Callable[[Any], Data]] = {
    leap.LeapImage: lambda value: {"image": _image(value.data), "compress": bool(value.compress)},
    leap.LeapVideo: lambda value: {"frames": _image(value.data)},
    leap.LeapImageWithBBox: lambda value: {
        "image": _image(value.data),
        "boxes": [_box(one) for one in value.bounding_boxes],
    },
    leap.LeapGraph: _graph,
    leap.LeapText: lambda value: {"tokens": _texts(value.data), "heatmap": _maybe(value.heatmap)},
    leap.LeapHorizontalBar: lambda value: {
        "body": array_data(value.body),
        "gt": _maybe(value.gt),
        "labels": _texts(value.labels),
    },
    leap.LeapImageMask: lambda value: {
        "image": _image(value.image),
        "mask": array_data(value.mask),
        "labels": _texts(value.labels),
    },
    leap.LeapTextMask: lambda value: {
        "tokens": _texts(value.text),
        "mask": array_data(value.mask),
        "labels": _texts(value.labels),
    },
    leap.LeapImageWithHeatmap: lambda value: {
        "image": _image(value.image),
        "heatmaps": array_data(value.heatmaps),
        "labels": _texts(value.labels),
    },
    leap.LeapAudio: _audio,
}


def wav_bytes(value: LeapAudio) -> bytes:
    """Return the bytes of a WAV file; floats beyond -1 and 1 are cut off.

    >>> wav_bytes(LeapAudio(np.zeros(4, np.float32), 8000))[:4]
    b'RIFF'
    """
    data = value.data[:, np.newaxis] if value.data.ndim == 1 else value.data
    values = data if data.dtype == np.int16 else (np.clip(data, -1.0, 1.0) * 32767.0).round()
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(data.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(int(value.sample_rate))
        writer.writeframes(np.ascontiguousarray(values, "<i2").tobytes())
    return file.getvalue()
