"""What a place holds when it is taken away: the baseline of integrated gradients, occlusion and RISE."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.arrays import Array, Float32Array
from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["BASELINES", "Baseline", "baseline_of"]

Baseline = str | float | Array

BASELINES = ("zero", "mean", "blur")
# A blur of an eighth of an axis leaves colours and light and takes shapes away.
_BLUR = 1 / 8


def baseline_of(values: Array, axes: InputAxes, asked: Baseline | None) -> tuple[Array, str]:
    """Return an array of the shape of the batch, and what it is in words.

    `asked` is "zero" (also None), "mean": each sample's own, for each channel; "blur": the sample, blurred; a number,
    such as that of a padding token; or an array of the shape of a sample or of the batch.
    """
    if asked is None or (isinstance(asked, str) and asked == "zero"):
        words = "Baseline: token 0, taken to be padding." if axes.tokens else "Baseline: zero."
        return np.zeros_like(values), words
    if isinstance(asked, str):
        return _named(values, axes, asked), f"Baseline: {_WORDS[asked]}."
    given = np.asarray(asked)
    try:
        spread = np.broadcast_to(given, values.shape)
    except ValueError as error:
        raise ConfigurationError(
            f"`baseline` must be a number or have the shape of a sample, {values.shape[1:]}, but it has {given.shape}."
        ) from error
    cast = _cast(spread, values)
    return cast, f"Baseline: {given.item():g}." if given.ndim == 0 else "Baseline: an array of your own."


_WORDS = {"mean": "the mean of the sample, for each channel", "blur": "the sample, blurred"}


def _named(values: Array, axes: InputAxes, name: str) -> Array:
    if name not in BASELINES:
        near = did_you_mean(name, BASELINES)
        raise ConfigurationError(
            f"There is no baseline {name!r}.", hint=f"{near} There are {', '.join(BASELINES)}, and arrays."
        )
    if axes.tokens:
        raise ConfigurationError(
            f"Tokens have no {name}.", hint="Give the number of a token as `baseline`; 0 is the default."
        )
    made = _mean(values, axes) if name == "mean" else _blurred(values, axes)
    return np.round(made).astype(values.dtype) if axes.whole else made.astype(values.dtype)


def _cast(spread: Array, values: Array) -> Array:
    if spread.dtype.kind not in "biuf":
        raise ConfigurationError(f"`baseline` must be numbers, but got {spread.dtype}.")
    cast = spread.astype(values.dtype)
    if values.dtype.kind in "biu" and not np.array_equal(cast, spread):
        raise ConfigurationError(f"`baseline` must be whole numbers that {values.dtype} holds, as the input's are.")
    return cast


def _mean(values: Array, axes: InputAxes) -> Array:
    means = values.mean(axis=axes.places, keepdims=True, dtype=np.float32)
    return np.broadcast_to(means, values.shape)


def _blurred(values: Array, axes: InputAxes) -> Array:
    result = values.astype(np.float32)
    for axis, size in zip(axes.places, axes.sizes, strict=True):
        result = np.moveaxis(np.moveaxis(result, axis, -1) @ _bells(size).T, -1, axis)
    return result


def _bells(size: int) -> Float32Array:
    """A row for each place: how much each of the others counts in its blur."""
    distance = np.arange(size)[:, None] - np.arange(size)[None, :]
    weights = np.exp(-0.5 * (distance / max(size * _BLUR, 0.5)) ** 2)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)
