"""Random maps that differ from a given one in nothing but where they point: the same values, as smooth. Asks no model.

A map of 7 x 7 cells brought to 224 x 224 places takes whole patches away at once, and pixel noise takes single places:
the two meet different odds. So the power of a map at each frequency is measured, over all directions, and noise with
that power takes the map's own values in its own order. Values that are equal stay equal: what a map leaves open, the
random ones leave open too.
"""

from __future__ import annotations

import numpy as np

from cutaway.analysis.libraries import library
from cutaway.arrays import Float32Array, Float64Array, Int64Array

__all__ = ["random_maps"]

WHAT = "The comparison of heat maps with random ones"


def random_maps(
    values: Float32Array, count: int, random: np.random.Generator, *, neighbours: bool = True
) -> Float32Array:
    """Return `count` random maps of the shape, the values and the smoothness of one map of finite values.

    `neighbours` is False where places have none, as the columns of a table: then any order is as good as another.
    """
    noise = random.standard_normal((count, *values.shape))
    # A map that is the same everywhere has no smoothness.
    if neighbours and values.min() < values.max():
        noise = _with_power(noise, _power(_normal_scores(values)))
    order = noise.reshape(count, -1).argsort(axis=1)
    made = np.empty(order.shape, np.float32)
    np.put_along_axis(made, order, np.sort(values, axis=None)[None], axis=1)
    return made.reshape(count, *values.shape)


def _normal_scores(values: Float32Array) -> Float64Array:
    """Return what normally distributed numbers in the order of the values would be; equal ones share their middle.

    Only the order decides what is taken away first: one huge value must not hide how smooth all others are.
    """
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    scores: Float64Array = library("scipy.special", WHAT).ndtri(middle / values.size)[which.reshape(values.shape)]
    return scores


def _power(scores: Float64Array) -> Float64Array:
    """Return the mean power at the frequency of each coefficient; none for the mean, which orders nothing."""
    coefficients = library("scipy.fft", WHAT).dctn(scores, norm="ortho")
    bands = _bands(scores.shape)
    counts = np.bincount(bands.ravel())
    power = np.bincount(bands.ravel(), np.square(coefficients).ravel()) / np.maximum(counts, 1)
    power[0] = 0.0
    return np.asarray(power[bands], np.float64)


def _with_power(noise: Float64Array, power: Float64Array) -> Float64Array:
    shaped: Float64Array = library("scipy.fft", WHAT).idctn(
        noise * np.sqrt(power), axes=tuple(range(1, noise.ndim)), norm="ortho"
    )
    return shaped


def _bands(shape: tuple[int, ...]) -> Int64Array:
    """Return for each coefficient how many waves go over the longest axis, in any direction, rounded.

    Waves per place, not per axis: a long and narrow map is as smooth along as across.
    """
    longest = max(shape)
    waves = np.meshgrid(*[np.arange(size) * (longest / size) for size in shape], indexing="ij")
    bands = np.rint(np.sqrt(sum(np.square(one) for one in waves))).astype(np.int64)
    # Axes of other lengths leave gaps; numbered without them, each band has something to take the mean of.
    _, dense = np.unique(bands, return_inverse=True)
    return dense.reshape(shape).astype(np.int64)
