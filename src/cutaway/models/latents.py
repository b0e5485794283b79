"""The latent space of a sample: which layer it is, and one vector from whatever shape that layer has."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, Float32Array
from cutaway.errors import LayerUnavailable
from cutaway.models.description import ModelDescription

__all__ = ["choose_layer", "pooled"]


def choose_layer(description: ModelDescription) -> str:
    """Return the layer whose output goes into the head of a model: what its format says, or the last but one."""
    if description.latent_layer is not None:
        return description.latent_layer
    layers = [layer.name for layer in description.layers]
    if not layers:
        raise LayerUnavailable("latent", (), "This model shows no layers; it can only predict.")
    return layers[-2] if len(layers) > 1 else layers[-1]


def pooled(values: Array, channel_axis: int = -1) -> Float32Array:
    """Return one vector a sample: the mean over every axis but samples and channels.

    >>> pooled(np.arange(8.0).reshape(1, 2, 4), channel_axis=1).tolist()
    [[1.5, 5.5]]
    """
    if values.ndim == 1:
        return values[:, None].astype(np.float32)
    channels_second = np.moveaxis(values, channel_axis, 1)
    # Over no axis at all this is the values themselves.
    others = tuple(range(2, channels_second.ndim))
    return np.asarray(channels_second.mean(axis=others, dtype=np.float64), dtype=np.float32)
