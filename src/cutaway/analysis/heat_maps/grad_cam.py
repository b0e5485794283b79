"""Grad-CAM: the channels of a layer, each weighed by the mean of its gradient over all places."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion
from cutaway.analysis.heat_maps.channel_sums import layer_maps
from cutaway.arrays import Array

__all__ = ["grad_cam"]


def grad_cam(asked: HeatMapQuestion) -> Found:
    """Return maps by Grad-CAM. Of a class only what speaks for it is kept; of a loss both signs are."""
    return layer_maps(asked, asked.options.layer, weighed, signed=asked.aim.loss is not None)


def weighed(gradient: Array, activation: Array, *, signed: bool) -> Array:
    """Return (n, places) of values with their channels on axis 1.

    >>> weighed(np.array([[[1.0, 3.0]]]), np.array([[[1.0, -1.0]]]), signed=False).tolist()
    [[2.0, 0.0]]
    """
    count, channels, *places = gradient.shape
    weights = gradient.reshape(count, channels, -1).mean(axis=2)
    summed = (weights[:, None, :] @ activation.reshape(count, channels, -1)).reshape(count, *places)
    return np.asarray(summed if signed else np.maximum(summed, 0))
