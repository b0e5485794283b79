"""Which numbers of an image are black and which are white. One rule for visualizers, previews and image metadata.

| values of the image | black | white | called |
|---|---|---|---|
| uint8 | 0 | 255 | `0..255` |
| float, none below 0, none above 1 | 0 | 1 | `0..1` |
| float, none below 0, some above 1 | 0 | 255 | `0..255` |
| float, some below 0, none beyond -1 and 1 | -1 | 1 | `-1..1` |
| float, some below 0, some beyond -1 or 1 | -3 | 3 | `-3..3` |

The last row is for standardised images (mean taken off, divided by the deviation). What lies beyond black and white is
cut off. The range is one of these four and never the image's own darkest and lightest value: contrast is not stretched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, Float64Array, UInt8Array

__all__ = ["Scale", "as_bytes", "scale_of", "scaled"]


class Scale(NamedTuple):
    """The values that are shown black and white."""

    black: float
    white: float

    def __str__(self) -> str:
        return f"{self.black:g}..{self.white:g}"


def scale_of(image: Array) -> Scale:
    """Return the range of an image's values by the rule above; values that are not finite decide nothing.

    >>> str(scale_of(np.array([0.0, 0.5]))), str(scale_of(np.array([0.0, 200.0]))), str(scale_of(np.array([-2.1, 2.6])))
    ('0..1', '0..255', '-3..3')
    """
    if image.dtype == np.uint8:
        return Scale(0, 255)
    low, high = _extremes(image)
    if low >= 0:
        return Scale(0, 1) if high <= 1 else Scale(0, 255)
    return Scale(-1, 1) if low >= -1 and high <= 1 else Scale(-3, 3)


def scaled(image: Array) -> Float64Array:
    """Return an image as numbers from 0 to 255, not rounded; NaN stays NaN.

    >>> scaled(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 127.5, 255.0]
    """
    if image.dtype == np.uint8:
        return image.astype(np.float64)
    black, white = scale_of(image)
    return np.clip((image.astype(np.float64) - black) * (255.0 / (white - black)), 0.0, 255.0)


def as_bytes(image: Array, scale: Scale | None = None) -> UInt8Array:
    """Return an image as it is shown: uint8, rounded. `scale` is that of a whole of which this is a part.

    >>> as_bytes(np.array([0.0, 0.5, 1.0])).tolist()
    [0, 128, 255]
    """
    if image.dtype == np.uint8:
        return image
    black, white = scale or scale_of(image)
    # In float32: half the work of float64, and far finer than 256 steps. What is too large for it is white anyway.
    with np.errstate(over="ignore"):
        values = (image.astype(np.float32) - np.float32(black)) * np.float32(255.0 / (white - black))
    return np.asarray(np.clip(values + np.float32(0.5), 0.0, 255.0), np.uint8)


def _extremes(image: Array) -> tuple[float, float]:
    if image.size == 0:
        return 0.0, 0.0
    low, high = float(image.min()), float(image.max())
    if np.isfinite(low) and np.isfinite(high):
        return low, high
    finite = image[np.isfinite(image)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
