"""Which axes of an input are places (rows and columns, times, tokens) and which one has its channels. Asks no model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, did_you_mean
from cutaway.models.batches import Batch, fitted, given_axes
from cutaway.models.description import Layer
from cutaway.models.model import Model

__all__ = ["InputAxes", "chosen_input", "input_axes", "named_arrays"]

_TEXT = "OSTU"
_WHOLE = "biu"
# Of these nothing can be told: they leave the axes as they are.
_KEEPING = ("input", "rescaling", "normalization", "dropout", "gaussian", "identity", "activation", "masking", "cast")
# How many channels an image may have, where nothing else tells which axis they are on.
_COLOURS = (1, 3, 4)
_SERIES = ("lstm", "gru", "rnn", "simplernn", "bidirectional", "global", "embedding")


@dataclass(frozen=True)
class InputAxes:
    """The axes of an input as its batches are given: all but the first and `channel` are places.

    `whole` says that the values are whole numbers.
    """

    name: str
    shape: tuple[int, ...]
    channel: int | None
    whole: bool = False

    @property
    def tokens(self) -> bool:
        """Whether a sample is a row of whole numbers, as the tokens of a text are."""
        return self.whole and len(self.shape) == 2

    @property
    def features(self) -> bool:
        """Whether a sample is a row of numbers that have no neighbours, as the columns of a table are."""
        return not self.whole and len(self.shape) == 2

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The axes of the places."""
        return tuple(axis for axis in range(1, len(self.shape)) if axis != self.channel)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many places there are along each of them."""
        return tuple(self.shape[axis] for axis in self.places)


def named_arrays(model: Model, batch: Batch) -> dict[str, Array]:
    """Return a batch as one array for each input, of its dtype, with the axes that it was given with."""
    arrays = fitted(batch, model.inputs, channels_last=model.channels_last)
    return {spec.name: given_axes(arrays[spec.name], spec, channels_last=model.channels_last) for spec in model.inputs}


def chosen_input(model: Model, name: str | None) -> str:
    """Return the name of the input that is explained: the first unless one is named."""
    known = [spec.name for spec in model.inputs]
    if name is None:
        return known[0]
    if name not in known:
        raise ConfigurationError(
            f"The model has no input {name!r}.", hint=f"{did_you_mean(name, known)} It has {known}."
        )
    return name


def input_axes(model: Model, name: str, values: Array) -> InputAxes:
    """Return which axes of an input are places. Raises `AnalysisUnavailable` where it has none."""
    if values.dtype.kind in _TEXT:
        raise AnalysisUnavailable(
            "heat map",
            f"input {name!r} takes whole texts, which have no places.",
            hint="Explain a model that takes tokens.",
        )
    if values.ndim < 2:
        raise AnalysisUnavailable("heat map", f"input {name!r} is one number a sample, so there is nothing to compare.")
    return InputAxes(name, values.shape, _channel(model, name, values.shape), values.dtype.kind in _WHOLE)


def _channel(model: Model, name: str, shape: tuple[int, ...]) -> int | None:
    spec, rank = next(spec for spec in model.inputs if spec.name == name), len(shape)
    if rank == 2:
        return None
    if rank == 3:
        axis = _of_three(model.layers, spec.channel_axis)
        return None if axis is None else axis % 3
    if model.channels_last is not None and spec.channel_axis is not None:
        return rank - 1 if model.channels_last else 1
    axis = (-1 if spec.channel_axis is None else spec.channel_axis) % rank
    if axis == 1 and shape[1] not in _COLOURS and shape[-1] in _COLOURS and _flattens(model.layers):
        # Its format says 1, but it takes any order of axes: an image of 8 x 8 x 1 has one channel, not 8.
        return rank - 1
    return axis


def _flattens(layers: tuple[Layer, ...]) -> bool:
    """Whether the first layer that does not only keep values makes one row of them."""
    kinds = (layer.kind.lower() for layer in layers)
    return next((kind for kind in kinds if not kind.startswith(_KEEPING)), "").startswith(("flatten", "reshape"))


def _of_three(layers: tuple[Layer, ...], declared: int | None) -> int | None:
    """Tell a series (samples, channels, times) or (samples, times, features) from images without channels.

    Three axes alone do not say it, and formats declare the last one, or nothing. The first layer that works on the
    axes tells.
    """
    for layer in layers:
        kind = layer.kind.lower()
        if kind.startswith(_KEEPING):
            continue
        if kind.startswith(("flatten", "reshape")):
            return None
        if layer.shape is None:
            return 1 if "conv1d" in kind else None if "conv" in kind else -1
        if len(layer.shape) == 3:
            return layer.channel_axis
        if len(layer.shape) >= 4 or (len(layer.shape) == 2 and not kind.startswith(_SERIES)):
            return None
        return -1
    return -1 if declared is None else declared
