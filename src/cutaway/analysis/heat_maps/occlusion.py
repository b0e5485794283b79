"""Occlusion: how much the score falls when a window that slides over the input is taken away. Needs no gradients."""

from __future__ import annotations

from itertools import product

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, changed_scores, packs, predict
from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.errors import ConfigurationError

__all__ = ["occlusion", "windows_of"]

# How many windows lie side by side along an axis, by the number of axes: about 40, 170 and 340 windows in all.
_SIDE_BY_SIDE = {1: 20, 2: 7, 3: 4}


def occlusion(asked: HeatMapQuestion) -> Found:
    """Return maps of the mean fall of the score over the windows that cover a place, all channels of them at once."""
    axes = asked.axes
    windows, size, stride = windows_of(axes, asked.options.window, asked.options.stride)
    scores, targets = predict(asked)
    maps = np.zeros((asked.count, *axes.sizes))
    counts = np.zeros(axes.sizes)
    for window in windows:
        counts[window] += 1
    counter = Counter(asked.progress, asked.count * len(windows), "windows", "occlusion")
    for samples, part in packs(asked, len(windows)):
        changed = np.repeat(asked.values[samples][None], part.stop - part.start, axis=0)
        for one, window in zip(changed, windows[part], strict=True):
            inside = _inside(axes, window)
            one[inside] = asked.removed[samples][inside]
        falls = scores[samples] - changed_scores(asked, samples, changed, targets)
        for fall, window in zip(falls, windows[part], strict=True):
            maps[samples][(slice(None), *window)] += fall.reshape(-1, *[1] * len(window))
        counter.advance(falls.size)
    shape = " x ".join(map(str, size))
    return Found(
        (maps / np.maximum(counts, 1)).astype(np.float32),
        scores,
        targets,
        signed=True,
        notes=(f"Windows of {shape}, {' x '.join(map(str, stride))} apart.",),
    )


def windows_of(
    axes: InputAxes, window: int | tuple[int, ...] | None, stride: int | tuple[int, ...] | None
) -> tuple[list[tuple[slice, ...]], tuple[int, ...], tuple[int, ...]]:
    """Return the windows as slices of the places, with their size and how far apart they lie.

    The last ones are cut at the edge. By default a window is a seventh of an image along each axis, a twentieth of a
    series, one token or one column, and the next one begins at its middle.
    """
    size = _each(axes, window, "window") or tuple(_default(axes, length) for length in axes.sizes)
    step = _each(axes, stride, "stride") or tuple(max(1, one // 2) for one in size)
    for length, one, far in zip(axes.sizes, size, step, strict=True):
        if one > length or (far > one and one < length):
            raise ConfigurationError(
                f"`stride <= window <= places` must hold along each axis, or places would be left out, but got "
                f"stride={step}, window={size}, places={axes.sizes}."
            )
    starts = [range(0, length - one + far, far) for length, one, far in zip(axes.sizes, size, step, strict=True)]
    corners = product(*starts)
    return [tuple(slice(at, at + one) for at, one in zip(corner, size, strict=True)) for corner in corners], size, step


def _default(axes: InputAxes, length: int) -> int:
    if axes.tokens or axes.features:
        return 1
    return max(1, round(length / _SIDE_BY_SIDE.get(len(axes.sizes), 4)))


def _each(axes: InputAxes, given: int | tuple[int, ...] | None, name: str) -> tuple[int, ...] | None:
    if given is None:
        return None
    each = (given,) * len(axes.sizes) if isinstance(given, int) else tuple(given)
    if len(each) != len(axes.sizes) or any(isinstance(one, bool) or one < 1 for one in each):
        raise ConfigurationError(
            f"`{name}` must be a whole number of places, or one for each of the {len(axes.sizes)} axes {axes.sizes}, "
            f"but got {given!r}."
        )
    return each


def _inside(axes: InputAxes, window: tuple[slice, ...]) -> tuple[slice, ...]:
    """Return a window of places as an index of a batch: all samples, all channels."""
    inside = [slice(None)] * len(axes.shape)
    for axis, one in zip(axes.places, window, strict=True):
        inside[axis] = one
    return tuple(inside)
