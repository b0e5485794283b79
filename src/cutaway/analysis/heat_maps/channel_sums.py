"""Puts the gradients and values of a layer together to one map a sample: the arithmetic of class activation maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, blocks, differentiate
from cutaway.analysis.heat_maps.place_layers import last_layer, likely_layer, placed
from cutaway.analysis.heat_maps.resizing import resize
from cutaway.arrays import Array

__all__ = ["Combine", "layer_maps"]

# Takes gradient and activation of a layer with the channels on axis 1, and whether the map is of a loss.
Combine = Callable[..., Array]


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
