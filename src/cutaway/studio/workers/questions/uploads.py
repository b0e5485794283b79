"""A file that somebody brought, as one sample of a model's input. Decoded here, in a worker, within bounds.

A picture is made as large, as gray and as bright as the data set's own first sample; what was done to it is said. An
array has to have the right shape already. Nothing is unpickled.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.functions import Field
from cutaway.dataset.value_range import scale_of
from cutaway.errors import ConfigurationError
from cutaway.studio.workers.questions.describing import image_axes

__all__ = ["fitted_upload"]

# A picture of more pixels is one that no camera took.
MOST_PIXELS = 50_000_000
MOST_NUMBERS = 50_000_000
_NPY = b"\x93NUMPY"
_PICTURES = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG"}


def fitted_upload(raw: bytes, field: Field, like: Array) -> tuple[Array, list[str]]:
    """Return a file's content as one sample of an input, like one that its encoder gave, and what was done to it."""
    if raw.startswith(_NPY):
        return _fitted_array(_array(raw), like)
    kind = next((name for start, name in _PICTURES.items() if raw.startswith(start)), None)
    if kind is None:
        raise ConfigurationError("The file is no PNG, no JPEG and no `.npy` array.", hint="Send one of these.")
    axes = image_axes(field, like)
    if axes is None:
        raise ConfigurationError(
            f"Input {field.name!r} has the shape {like.shape}, which is no image.",
            hint="Send an array: `numpy.save(...)`.",
        )
    return _fitted_picture(raw, kind, axes, like)


def _array(raw: bytes) -> Array:
    try:
        version = np.lib.format.read_magic(head := io.BytesIO(raw))
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(head)
        if dtype.hasobject or dtype.kind not in "fiub":
            raise ConfigurationError(f"The array holds {dtype}, but numbers are needed.")
        if int(np.prod(shape, dtype=object)) > MOST_NUMBERS:
            raise ConfigurationError(f"The array has the shape {shape}, which is more than {MOST_NUMBERS:,} numbers.")
        return np.asarray(np.load(io.BytesIO(raw), allow_pickle=False))
    except (ValueError, EOFError, OverflowError, SyntaxError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(
            f"The array cannot be read: {error}.", hint="Write it with `numpy.save(...)`."
        ) from error


def _fitted_array(values: Array, like: Array) -> tuple[Array, list[str]]:
    one = values[0] if values.shape == (1, *like.shape) else values
    if one.shape != like.shape:
        raise ConfigurationError(
            f"The array has the shape {values.shape}, but the encoder gives {like.shape}.", hint="Send one such sample."
        )
    notes = [] if one.dtype == like.dtype else [f"Made {like.dtype} of {one.dtype}."]
    return np.ascontiguousarray(one, like.dtype), notes


def _fitted_picture(raw: bytes, kind: str, axes: tuple[int, int, int | None], like: Array) -> tuple[Array, list[str]]:
    rows, columns, colours = axes
    height, width = like.shape[rows], like.shape[columns]
    mode = "RGB" if colours is not None and like.shape[colours] == 3 else "L"
    pixels, (was_wide, was_high), was_mode = _pixels(raw, kind, mode, (width, height))
    black, white = scale_of(like)
    values = black + pixels.astype(np.float64) / 255 * (white - black)
    if like.dtype.kind in "iub":
        values = values.round()
    made = values if values.ndim == 3 or colours is None else values[:, :, None]
    if colours is not None:
        made = np.moveaxis(made, -1, colours)
    notes = []
    if (was_wide, was_high) != (width, height):
        notes.append(f"Resized from {was_wide} x {was_high} to {width} x {height}.")
    if was_mode != mode:
        notes.append(f"Made {'gray' if mode == 'L' else 'RGB'} of {was_mode}.")
    notes.append(
        f"Scaled to {black:g}..{white:g}, as the data set's first sample is. Other steps of its encoder are not done."
    )
    return np.ascontiguousarray(made, like.dtype), notes


def _pixels(raw: bytes, kind: str, mode: str, size: tuple[int, int]) -> tuple[Array, tuple[int, int], str]:
    """Return a picture's pixels in a mode and size, and the size and mode that it had."""
    from PIL import Image

    resampling = Image.Resampling
    try:
        with warnings.catch_warnings():
            # Bounded by ourselves, before a pixel is decoded.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(raw), formats=[kind])
            wide, high = picture.size
            if wide * high > MOST_PIXELS:
                raise ConfigurationError(
                    f"The picture has {wide:,} x {high:,} pixels, more than {MOST_PIXELS:,}.",
                    hint="Send a smaller one.",
                )
            was = picture.mode
            flat = _flat(picture, Image).convert(mode)
            # Means of what comes together where it shrinks, straight lines between pixels where it grows.
            way = resampling.BOX if size[0] <= wide and size[1] <= high else resampling.BILINEAR
            small = flat if flat.size == size else flat.resize(size, way)
            return np.asarray(small), (wide, high), was
    except Image.DecompressionBombError as error:
        raise ConfigurationError(
            f"The picture has more than {MOST_PIXELS:,} pixels.", hint="Send a smaller one."
        ) from error
    except (OSError, ValueError, SyntaxError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(
            f"The picture cannot be read: {str(error).rstrip('.')}.", hint="Send another."
        ) from error


def _flat(picture: Any, image: Any) -> Any:
    """Return a picture without transparency: what shines through is white."""
    if picture.mode not in ("RGBA", "LA", "PA") and "transparency" not in picture.info:
        return picture if not picture.mode.startswith("I") else _of_sixteen_bits(picture, image)
    whole = picture.convert("RGBA")
    under = image.new("RGBA", whole.size, (255, 255, 255, 255))
    under.alpha_composite(whole)
    return under.convert("RGB")


def _of_sixteen_bits(picture: Any, image: Any) -> Any:
    return image.fromarray((np.asarray(picture, np.int64) >> 8).clip(0, 255).astype(np.uint8))
