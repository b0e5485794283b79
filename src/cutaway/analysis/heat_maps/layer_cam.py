"""LayerCAM: the channels of a layer, each weighed at every place by its own gradient there."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion
from cutaway.analysis.heat_maps.channel_sums import layer_maps
from cutaway.arrays import Array

__all__ = ["layer_cam"]


def layer_cam(asked: HeatMapQuestion) -> Found:
    """Return maps by LayerCAM: of a class by its positive gradients; of a loss by all, so that both signs are kept."""
    return layer_maps(asked, asked.options.layer, weighed, signed=asked.aim.loss is not None)


def weighed(gradient: Array, activation: Array, *, signed: bool) -> Array:
    """Return (n, places) of values with their channels on axis 1.

    >>> weighed(np.array([[[-1.0, 3.0]]]), np.array([[[1.0, 2.0]]]), signed=False).tolist()
    [[0.0, 6.0]]
    """
    if signed:
        return np.asarray((gradient * activation).sum(axis=1))
    return np.asarray(np.maximum((np.maximum(gradient, 0) * activation).sum(axis=1), 0))
