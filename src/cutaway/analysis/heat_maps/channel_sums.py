"""Puts the gradients and values of a layer together to one map a sample: class activation maps.

Grad-CAM weighs each channel by the mean of its gradient over all places, LayerCAM at every place by its own gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, blocks, differentiate
from cutaway.analysis.heat_maps.place_layers import last_layer, likely_layer, placed
from cutaway.analysis.heat_maps.resizing import resize
from cutaway.arrays import Array

__all__ = ["grad_cam", "layer_cam", "layer_maps"]

# Takes gradient and activation of a layer with the channels on axis 1, and whether the map is of a loss.
Combine = Callable[..., Array]


def grad_cam(asked: HeatMapQuestion) -> Found:
    """Return maps by Grad-CAM. Of a class only what speaks for it is kept; of a loss both signs are."""
    return layer_maps(asked, asked.options.layer, _weighed_by_means, signed=asked.aim.loss is not None)


def layer_cam(asked: HeatMapQuestion) -> Found:
    """Return maps by LayerCAM: of a class by its positive gradients; of a loss by all, so that both signs are kept."""
    return layer_maps(asked, asked.options.layer, _weighed_by_place, signed=asked.aim.loss is not None)


def layer_maps(asked: HeatMapQuestion, name: str | None, combine: Combine, *, signed: bool) -> Found:
    """Return maps by a layer, resized to the places of the input; the last layer with places where none is named."""
    counter = Counter(asked.progress, asked.count, "samples", "heat maps")
    layer = name or likely_layer(asked) or last_layer(asked).name
    maps, scores, targets = [], [], []
    most = 1
    for part in blocks(asked):
        answer = differentiate(asked, layer, part)
        where = placed(asked, layer, answer.activation)
        if name is None and max(where.sizes) == 1:
            # The likely one was none: it keeps nothing apart.
            name = layer = last_layer(asked).name
            answer = differentiate(asked, layer, part)
            where = placed(asked, layer, answer.activation)
        most = max(where.sizes)
        gradient, activation = (np.moveaxis(side, where.axis, 1) for side in (answer.gradient, answer.activation))
        maps.append(resize(combine(gradient, activation, signed=signed), asked.axes.sizes))
        scores.append(answer.scores)
        targets.append(answer.targets)
        counter.advance(part.stop - part.start)
    notes = () if most > 1 else (f"Layer {layer!r} has a single place, so the map is the same everywhere.",)
    return Found(
        np.concatenate(maps),
        np.concatenate(scores),
        None if targets[0] is None else np.concatenate([one for one in targets if one is not None]),
        signed,
        layer,
        notes=notes,
    )


def _weighed_by_means(gradient: Array, activation: Array, *, signed: bool) -> Array:
    """Return (n, places) of values with their channels on axis 1.

    >>> _weighed_by_means(np.array([[[1.0, 3.0]]]), np.array([[[1.0, -1.0]]]), signed=False).tolist()
    [[2.0, 0.0]]
    """
    count, channels, *places = gradient.shape
    weights = gradient.reshape(count, channels, -1).mean(axis=2)
    summed = (weights[:, None, :] @ activation.reshape(count, channels, -1)).reshape(count, *places)
    return np.asarray(summed if signed else np.maximum(summed, 0))


def _weighed_by_place(gradient: Array, activation: Array, *, signed: bool) -> Array:
    """Return (n, places) of values with their channels on axis 1.

    >>> _weighed_by_place(np.array([[[-1.0, 3.0]]]), np.array([[[1.0, 2.0]]]), signed=False).tolist()
    [[0.0, 6.0]]
    """
    if signed:
        return np.asarray((gradient * activation).sum(axis=1))
    return np.asarray(np.maximum((np.maximum(gradient, 0) * activation).sum(axis=1), 0))
