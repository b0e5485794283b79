"""Ready-made metadata of an image: brightness, contrast, sharpness, noise and colours. Numbers in, numbers out.

Images are [H, W], [H, W, 1] or [H, W, 3] (red, green, blue), uint8 or float. Every measure is of values from 0 to 255,
to which `cutaway.dataset.value_range` brings floats. Grey is 0.299 R + 0.587 G + 0.114 B. A NaN in the image makes
what is measured on it NaN. Measures of neighbouring pixels need at least 3 x 3 of them, and are NaN below that.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from cutaway.arrays import Array, Float64Array
from cutaway.dataset.value_range import scaled
from cutaway.errors import ConfigurationError, did_you_mean

__all__ = [
    "brightness",
    "contrast",
    "detect_sharpness",
    "estimate_noise",
    "get_mean_abs_log_metadata",
    "image_metadata",
    "lab_channel_stats",
    "rgb_channel_stats",
    "total_variation",
]

_GREY = np.array([0.299, 0.587, 0.114])

# Linear sRGB to CIE XYZ; dividing by its row sums, the white point D65, makes white exactly L = 100, a = b = 0.
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_TO_WHITE = (_XYZ / _XYZ.sum(axis=1, keepdims=True)).T


def brightness(image: Array) -> float:
    """Return the mean of the grey values, 0 (black) to 255 (white).

    >>> brightness(np.full((4, 4, 3), 51, np.uint8))
    51.0
    """
    return float(_grey(image).mean())


def contrast(image: Array) -> float:
    """Return the standard deviation of the grey values (RMS contrast), 0 to 127.5.

    >>> contrast(np.array([[0, 255], [255, 0]], np.uint8))
    127.5
    """
    return float(_grey(image).std())


def detect_sharpness(image: Array) -> float:
    """Return the variance of the Laplacian of the grey values: blurred images have little of it.

    >>> detect_sharpness(np.full((8, 8), 7, np.uint8))
    0.0
    """
    grey = _grey(image)
    return float(_laplacian(grey).var()) if _has_neighbours(grey) else float("nan")


def get_mean_abs_log_metadata(image: Array, sigma: float = 1.0) -> float:
    """Return the mean absolute Laplacian of Gaussian of the grey values: how much edge there is at scale `sigma`.

    The image is smoothed by a Gaussian of `sigma` pixels, cut off at 3 sigma, its edges repeated.

    >>> get_mean_abs_log_metadata(np.full((8, 8), 7, np.uint8))
    0.0
    """
    if not sigma > 0:
        raise ConfigurationError(f"`sigma > 0` must hold, but got {sigma=}.")
    grey = _grey(image)
    if not _has_neighbours(grey):
        return float("nan")
    # Weights sum to 1 but for rounding; without the last decimals a flat image has exactly none.
    return float(np.abs(_laplacian(_smoothed(grey, sigma))).mean().round(9))


def estimate_noise(image: Array, method: Literal["sigma", "laplacian"] = "sigma") -> float:
    """Return the standard deviation of the noise in the grey values.

    `sigma` takes the diagonal Haar details (a - b - c + d) / 2 of blocks of 2 x 2 pixels and divides their median
    absolute value by 0.6745: edges, being few, hardly count. `laplacian` is Immerkaer's: the mean absolute value of a
    difference of two Laplacians, times sqrt(pi / 2) / 6; it takes fine texture for noise.

    >>> estimate_noise(np.full((8, 8), 7, np.uint8), method="laplacian")
    0.0
    """
    methods = {"sigma": _haar_noise, "laplacian": _laplacian_noise}
    if method not in methods:
        raise ConfigurationError(
            f"There is no method {method!r}.",
            hint=f"{did_you_mean(method, methods)} There are 'sigma' and 'laplacian'.",
        )
    grey = _grey(image)
    return methods[method](grey) if _has_neighbours(grey) else float("nan")


def total_variation(image: Array) -> float:
    """Return the sum of the absolute differences of neighbouring grey values, divided by the number of pixels.

    >>> total_variation(np.array([[0, 100], [0, 100]], np.uint8))
    50.0
    """
    grey = _grey(image)
    differences = np.abs(np.diff(grey, axis=0)).sum() + np.abs(np.diff(grey, axis=1)).sum()
    return float(differences / grey.size)


def rgb_channel_stats(image: Array) -> dict[str, float]:
    """Return mean and standard deviation of red, green and blue; those of a grey image are all three the same.

    >>> rgb_channel_stats(np.full((2, 2, 3), [255, 0, 51], np.uint8))["blue_mean"]
    51.0
    """
    return _channel_stats(_colours(image), ("red", "green", "blue"))


def lab_channel_stats(image: Array) -> dict[str, float]:
    """Return mean and standard deviation of L, a and b of CIE Lab (sRGB, white point D65).

    L is 0 to 100; a from green to red and b from blue to yellow, each about -100 to 100.

    >>> lab_channel_stats(np.full((2, 2), 255, np.uint8))["lab_l_mean"]
    100.0
    """
    colours = _colours(image) / 255.0
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    relative = linear @ _TO_WHITE
    roots = np.where(relative > (6 / 29) ** 3, np.cbrt(relative), relative * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = np.moveaxis(roots, -1, 0)
    lab = np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
    return _channel_stats(lab.round(9), ("lab_l", "lab_a", "lab_b"))


def image_metadata(image: Array) -> dict[str, float]:
    """Return every measure of this module by name: what a metadata function can return as it is.

    >>> sorted(image_metadata(np.zeros((8, 8, 3), np.uint8)))[:4]
    ['blue_mean', 'blue_std', 'brightness', 'contrast']
    """
    return {
        "brightness": brightness(image),
        "contrast": contrast(image),
        "sharpness": detect_sharpness(image),
        "mean_abs_log": get_mean_abs_log_metadata(image),
        "noise_sigma": estimate_noise(image, "sigma"),
        "noise_laplacian": estimate_noise(image, "laplacian"),
        "total_variation": total_variation(image),
        **rgb_channel_stats(image),
        **lab_channel_stats(image),
    }


def _colours(image: Array) -> Float64Array:
    """Return [H, W, 3] of 0 to 255."""
    image = np.asarray(image)
    wide = image[..., np.newaxis] if image.ndim == 2 else image
    if wide.ndim != 3 or wide.shape[-1] not in (1, 3) or wide.size == 0:
        raise ConfigurationError(
            f"An image must be [H, W], [H, W, 1] or [H, W, 3], but got shape {image.shape}.",
            hint="Channels come last: use `np.moveaxis(image, 0, -1)` where they come first.",
        )
    if wide.dtype != np.uint8 and wide.dtype.kind != "f":
        raise ConfigurationError(f"An image must be uint8 or float, but got {wide.dtype}.")
    values = scaled(wide)
    return np.broadcast_to(values, (*values.shape[:2], 3))


def _grey(image: Array) -> Float64Array:
    colours = _colours(image)
    if np.asarray(image).ndim == 2 or np.asarray(image).shape[-1] == 1:
        return colours[..., 0]
    # Nine decimals: a grey picture in three channels is then exactly its grey.
    return np.asarray((colours @ _GREY).round(9))


def _channel_stats(channels: Float64Array, names: tuple[str, ...]) -> dict[str, float]:
    means, deviations = channels.mean(axis=(0, 1)), channels.std(axis=(0, 1))
    stats = {}
    for name, mean, deviation in zip(names, means, deviations, strict=True):
        stats[f"{name}_mean"] = float(mean)
        stats[f"{name}_std"] = float(deviation)
    return stats


def _has_neighbours(grey: Float64Array) -> bool:
    return all(size >= 3 for size in grey.shape)


def _laplacian(grey: Float64Array) -> Float64Array:
    """Return the sum of the four neighbours less four times the pixel, of all pixels that have four."""
    centre = grey[1:-1, 1:-1]
    return grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:] - 4.0 * centre


def _smoothed(grey: Float64Array, sigma: float) -> Float64Array:
    radius = max(1, round(3 * sigma))
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    for axis, size in enumerate(grey.shape):
        padding = [(radius, radius) if one == axis else (0, 0) for one in (0, 1)]
        padded = np.pad(grey, padding, mode="edge")
        grey = sum(
            (weight * padded.take(range(shift, shift + size), axis) for shift, weight in enumerate(weights)),
            np.zeros_like(grey),
        )
    return grey


def _haar_noise(grey: Float64Array) -> float:
    rows, columns = (size // 2 * 2 for size in grey.shape)
    even = grey[:rows, :columns]
    details = (even[::2, ::2] - even[::2, 1::2] - even[1::2, ::2] + even[1::2, 1::2]) / 2.0
    return float(np.median(np.abs(details)) / 0.6745)


def _laplacian_noise(grey: Float64Array) -> float:
    across = grey[:, :-2] - 2.0 * grey[:, 1:-1] + grey[:, 2:]
    both = across[:-2] - 2.0 * across[1:-1] + across[2:]
    return float(np.abs(both).mean() * np.sqrt(np.pi / 2.0) / 6.0)
