"""Input gradients: how much the score changes with each value of the input, or of a layer that keeps its places."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, blocks, differentiate
from cutaway.analysis.heat_maps.channel_sums import layer_maps
from cutaway.analysis.heat_maps.place_layers import embedding_layer
from cutaway.arrays import Array

__all__ = ["input_gradient"]


def input_gradient(asked: HeatMapQuestion) -> Found:
    """Return maps of the gradient by the input.

    Of a class a map is the largest absolute gradient among the channels of a place, of a loss the sum of its
    gradients, so that both signs are kept. Tokens have no gradient: there, and by any layer that is named, a map is
    gradient times value of that layer, summed over its channels.
    """
    layer = asked.options.layer
    if layer is None and asked.axes.tokens:
        layer = embedding_layer(asked)
    if layer is not None:
        found = layer_maps(asked, layer, _times, signed=True)
        return found._replace(
            notes=(*found.notes, f"Gradient times value of layer {layer!r}, summed over its channels.")
        )
    return _by_input(asked)


def _by_input(asked: HeatMapQuestion) -> Found:
    counter = Counter(asked.progress, asked.count, "samples", "heat maps")
    answers = []
    for part in blocks(asked):
        answers.append(differentiate(asked, asked.axes.name, part))
        counter.advance(part.stop - part.start)
    gradients = np.concatenate([answer.gradient for answer in answers])
    chosen = [answer.targets for answer in answers if answer.targets is not None]
    signed = asked.aim.loss is not None
    return Found(
        np.asarray(_joined(gradients, asked.axes.channel, signed=signed), np.float32),
        np.concatenate([answer.scores for answer in answers]),
        np.concatenate(chosen) if chosen else None,
        signed,
        attributions=gradients,
        notes=("More of the input raises the loss where the map is positive.",) if signed else (),
    )


def _joined(gradients: Array, channel: int | None, *, signed: bool) -> Array:
    if signed:
        return gradients if channel is None else np.asarray(gradients.sum(axis=channel))
    sizes = np.abs(gradients)
    return sizes if channel is None else np.asarray(sizes.max(axis=channel))


def _times(gradient: Array, activation: Array, *, signed: bool) -> Array:  # noqa: ARG001 - signed whatever is explained
    return np.asarray((gradient * activation).sum(axis=1))
