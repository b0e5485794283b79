"""Draws lines and the waves of sound. They are smooth because they are drawn double and reduced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.rendering.axes import Axis, framed, place
from cutaway.dataset.rendering.canvas import FAINT, GRID, Colour, blank, colour_of, legend
from cutaway.dataset.visualizer_classes import LeapAudio, LeapGraph

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

__all__ = ["graph", "lines", "wave", "waveform"]

_TRACES, _NAMED = 50, 10


def lines(data: Array, width: int, height: int, up: Axis | None = None, grid: tuple[float, ...] = ()) -> Image:
    """Return the traces [M, N] as lines over a whole sheet, with lines of the grid at the given values."""
    from PIL.ImageDraw import Draw

    up = up or _axis(data)
    sheet = blank(2 * width, 2 * height)
    draw = Draw(sheet)
    for value in grid:
        y = 2 * height - 1 - place(value, up, 2 * height)
        draw.line((0, y, 2 * width, y), fill=GRID, width=2)
    for index in range(min(data.shape[1], _TRACES)):
        _trace(draw, sheet.size, data[:, index].astype(np.float64), up, colour_of(index))
    return sheet.reduce(2)


def graph(value: LeapGraph) -> Image:
    """Return the traces with axes, labels and, where there are several, a legend."""
    points, traces = value.data.shape
    first, last = value.x_range or (0.0, max(1.0, points - 1.0))
    up = _axis(value.data, value.y_label or "")
    entries = [(f"trace {index}", colour_of(index)) for index in range(min(traces, _NAMED))]
    if traces > _NAMED:
        entries.append((f"{traces} traces" + (f", {_TRACES} drawn" if traces > _TRACES else ""), FAINT))
    return framed(
        lambda width, height, grid: lines(value.data, width, height, up, grid),
        Axis(first, last, value.x_label or ""),
        up,
        legend(entries, 560) if traces > 1 else None,
    )


def wave(data: Array, width: int, height: int) -> Image:
    """Return sound as its lowest and highest value in each column; two channels one above the other."""
    from PIL.ImageDraw import Draw

    channels = data[:, np.newaxis] if data.ndim == 1 else data
    loudest = 32768.0 if data.dtype == np.int16 else 1.0
    sheet = blank(2 * width, 2 * height)
    draw = Draw(sheet)
    part = 2 * height / channels.shape[1]
    for index in range(channels.shape[1]):
        middle = part * (index + 0.5)
        draw.line((0, middle, 2 * width, middle), fill=GRID, width=2)
        low, high = _joined(*_extremes(channels[:, index] / loudest, 2 * width))
        columns = np.linspace(0, 2 * width - 1, len(low)) if len(low) > 1 else np.array([float(width)])
        tops = middle - np.clip(high, -1, 1) * (part / 2 - 2)
        bottoms = middle - np.clip(low, -1, 1) * (part / 2 - 2) + 1
        for x, top, bottom in zip(columns, tops, bottoms, strict=True):
            draw.line((x, top, x, bottom), fill=colour_of(index), width=2)
    return sheet.reduce(2)


def waveform(value: LeapAudio) -> Image:
    """Return the wave over an axis of seconds."""
    seconds = Axis(0.0, len(value.data) / value.sample_rate, f"seconds ({value.sample_rate:,} values each)")
    return framed(lambda width, height, _: wave(value.data, width, height), seconds, None)


def _trace(draw: ImageDraw, size: tuple[int, int], values: Array, up: Axis, colour: Colour) -> None:
    """Draw one line, broken where values are NaN; of many points in a column only the lowest and highest."""
    width, height = size
    thick = 4
    if len(values) > 2 * width:
        thick = 3
        values = np.stack(_extremes(values, width), axis=1).ravel()
    x = np.linspace(3, width - 4, len(values)) if len(values) > 1 else np.array([width / 2])
    y = height - 1 - (values - up.low) / (up.high - up.low) * (height - 1)
    gaps = np.isnan(values)
    for part in np.split(np.arange(len(values)), np.flatnonzero(gaps)):
        known = part[~gaps[part]]
        if len(known) == 1:
            centre_x, centre_y = x[known[0]], y[known[0]]
            draw.ellipse((centre_x - 4, centre_y - 4, centre_x + 4, centre_y + 4), fill=colour)
        elif len(known):
            draw.line(np.stack([x[known], y[known]], axis=1).ravel().tolist(), fill=colour, width=thick, joint="curve")


def _extremes(values: Array, columns: int) -> tuple[Array, Array]:
    """Return the lowest and highest value of each column of a sheet, NaN where it has none."""
    starts = np.unique(np.linspace(0, len(values), min(columns, len(values)), endpoint=False).astype(int))
    return np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)


def _joined(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the columns so that each reaches the one before it: a wave has no gaps."""
    return np.minimum(low, np.append(low[:1], high[:-1])), np.maximum(high, np.append(high[:1], low[:-1]))


def _axis(data: Array, label: str = "") -> Axis:
    """Return an axis that holds all values, with a little air."""
    known = data[~np.isnan(data)].astype(np.float64)
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return Axis(low - air, high + air, label)
