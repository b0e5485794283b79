"""Finds the layers of a model that keep the places of an input, and where their channels lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from cutaway.analysis.heat_maps.asking import HeatMapQuestion
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, LayerUnavailable
from cutaway.models.description import Layer

__all__ = ["PlaceLayer", "embedding_layer", "last_layer", "layer_named", "likely_layer", "place_layers", "placed"]

# A few at first: where the last layers will do, nothing else of a deep model is copied out.
_FIRST_LOOK = 4
# What goes into a dense head: listed last, without places.
_INTO_HEAD = "Input of Linear"
# Kinds whose channels lie last in torch, whatever goes through them.
_FEATURES_LAST = ("linear", "layernorm", "rmsnorm", "embedding", "lstm", "gru", "multihead", "transformer", "input of")


@dataclass(frozen=True)
class PlaceLayer:
    """A layer with places: `shape` is that of one sample's values, `axis` that of the channels in a batch of them."""

    name: str
    axis: int
    shape: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many places it has along each axis of places."""
        return (*self.shape[: self.axis - 1], *self.shape[self.axis :])


def place_layers(asked: HeatMapQuestion) -> tuple[PlaceLayer, ...]:
    """Return the layers that have as many axes of places as the input, and more than one place, in order."""
    found = list(_looked_at(asked, asked.model.layers))
    return tuple(layer for layer in found if max(layer.sizes) > 1)


def last_layer(asked: HeatMapQuestion) -> PlaceLayer:
    """Return the last layer with places that is not the output itself. Raises where there is none."""
    outputs = _output_shapes(asked)
    found = None
    for layer in _looked_at(asked, asked.model.layers[::-1]):
        if max(layer.sizes) > 1:
            found = found or layer
            if layer.shape not in outputs:
                return layer
    if found is None:
        raise _without(asked)
    return found


def likely_layer(asked: HeatMapQuestion) -> str | None:
    """Return what `last_layer` most likely gives, without asking the model; None where that cannot be told."""
    rank = len(asked.axes.places) + 2
    if any(len(spec.shape) != 2 for spec in asked.model.outputs):
        return None
    for layer in reversed(asked.model.layers):
        if layer.shape is None and layer.kind != _INTO_HEAD:
            return None
        if layer.shape is not None and len(layer.shape) == rank:
            pools_all = any(word in layer.kind.lower() for word in ("adaptive", "global"))
            return None if pools_all else layer.name
    return None


def layer_named(asked: HeatMapQuestion, name: str) -> Layer:
    """Return what the model says of a layer. Raises `LayerUnavailable` where it has none of that name."""
    known = [layer.name for layer in asked.model.layers]
    if name not in known:
        raise LayerUnavailable(name, known)
    return asked.model.layers[known.index(name)]


def placed(asked: HeatMapQuestion, name: str, values: Array) -> PlaceLayer:
    """Return how the values of a named layer lie. Raises `AnalysisUnavailable` where they have no places."""
    layer = _placed(asked, layer_named(asked, name), values)
    if layer is None:
        known = [one.name for one in place_layers(asked)]
        shape = (None, *values.shape[1:])
        wanted = len(asked.axes.places)
        raise AnalysisUnavailable(
            "heat map of that layer",
            f"layer {name!r} gives {shape}, not {wanted} axes of places beside its channels. "
            + (f"These do: {', '.join(map(repr, known))}." if known else "No layer of this model does."),
        )
    return layer


def embedding_layer(asked: HeatMapQuestion) -> str:
    """Return the first layer of floating-point numbers that has the tokens of a text on its axis of places."""
    for layer in _looked_at(asked, asked.model.layers):
        if layer.sizes == asked.axes.sizes:
            return layer.name
    raise AnalysisUnavailable(
        "input_gradient heat map",
        f"input {asked.axes.name!r} takes whole numbers, which have no gradient, and no layer keeps its tokens apart.",
        hint="Use 'occlusion' or 'rise'.",
    )


def _looked_at(asked: HeatMapQuestion, layers: Sequence[Layer]) -> Iterator[PlaceLayer]:
    """Go through the layers that may have places, as one sample shows them; a few, then ever more at once."""
    rank = len(asked.axes.places) + 2
    waiting = iter([layer for layer in layers if layer.shape is None or len(layer.shape) == rank])
    size = _FIRST_LOOK
    while group := list(islice(waiting, size)):
        size *= 2
        # Most formats say all sizes; where one does not, a sample shows them.
        values = _values(asked, [layer.name for layer in group if _declared(layer) is None])
        for layer in group:
            seen = _declared(layer)
            if seen is None and layer.name in values:
                seen = _placed(asked, layer, values[layer.name])
            if seen is not None:
                yield seen


def _declared(layer: Layer) -> PlaceLayer | None:
    if layer.shape is None:
        return None
    sizes = tuple(size for size in layer.shape[1:] if size is not None)
    if len(sizes) < len(layer.shape) - 1:
        return None
    return PlaceLayer(layer.name, layer.channel_axis % len(layer.shape), sizes)


def _placed(asked: HeatMapQuestion, layer: Layer, values: Array) -> PlaceLayer | None:
    rank = values.ndim
    if rank != len(asked.axes.places) + 2 or values.dtype.kind != "f":
        return None
    axis = layer.channel_axis % rank
    if layer.shape is None and not layer.kind.lower().startswith(_FEATURES_LAST):
        # Of a module that nothing went through yet: its channels lie where those of the input do.
        axis = _input_channel(asked, axis)
    return PlaceLayer(layer.name, axis, values.shape[1:])


def _input_channel(asked: HeatMapQuestion, otherwise: int) -> int:
    """Return the channel axis of the input as the model has it, which may be another than it was given with."""
    declared = next(spec.channel_axis for spec in asked.model.inputs if spec.name == asked.axes.name)
    rank = len(asked.axes.shape)
    if asked.axes.channel is None:
        return otherwise
    return asked.axes.channel if rank == 3 or declared is None else declared % rank


def _values(asked: HeatMapQuestion, names: list[str]) -> dict[str, Array]:
    """Ask for the values of layers of one sample; those that it does not go through are left out."""
    if not names:
        return {}
    one = {name: values[:1] for name, values in asked.arrays.items()}
    try:
        return asked.model.activations(one, names)
    except LayerUnavailable:
        if len(names) == 1:
            return {}
        return {name: values for each in names for name, values in _values(asked, [each]).items()}


def _output_shapes(asked: HeatMapQuestion) -> set[tuple[int, ...]]:
    """Return the shapes of outputs that have places themselves: as a layer, such a one would only explain itself."""
    if all(0 < len(spec.shape) < 3 for spec in asked.model.outputs):
        return set()
    answers = asked.model.predict({name: values[:1] for name, values in asked.arrays.items()})
    return {values.shape[1:] for values in answers.values() if values.ndim > 2}


def _without(asked: HeatMapQuestion) -> AnalysisUnavailable:
    places = " x ".join(map(str, asked.axes.sizes))
    known = ", ".join(repr(layer.name) for layer in asked.model.layers[:20]) or "none at all"
    return AnalysisUnavailable(
        "heat map by a layer",
        f"no layer of this model keeps places of the input {asked.axes.name!r} ({places}) apart.",
        hint=f"Its layers: {known}. Use 'input_gradient', 'integrated_gradients', 'occlusion' or 'rise'.",
    )
