"""Curves as figures: a metric along metadata, and loss and accuracy along the batches of a training."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.figures.chart import Chart, Numbers, Panel, Series, Spots
from cutaway.analysis.figures.figure import Figure
from cutaway.analysis.figures.words import number, said, sentence
from cutaway.analysis.samples.samples import doubles_of
from cutaway.arrays import Float64Array
from cutaway.class_colours import CLASS_COLOURS
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import counted

__all__ = ["batches_figure", "curve_figure"]

# More points than pixels show nothing more.
MOST_SPOTS = 2_000
# Batches are smoothed over this part of a training.
SMOOTHED = 0.02
MOST_LINES = len(CLASS_COLOURS)


def curve_figure(
    table: pa.Table, *, x: str = "value", y: str = "loss", by: str | None = None, title: str = "", words: str = ""
) -> Figure:
    """Return the means of a table of bins as a curve, with their intervals, and the counts as bars below.

    `table` has a row for each bin: `count`, `mean`, and where they are known `low` and `high`, the ends of an interval;
    `from` and `to` along numbers, or `value` along names; and, where it is split, `by`, one line for each of its
    values, the ten with the most samples. `x`, `y` and `by` are what the columns stand for, in words.
    """
    _refuse_absent(table, ("count", "mean"), ("from", "value"))
    if not table.num_rows:
        raise AnalysisUnavailable("curve", "the table has no bins.")
    rows = table.to_pylist()
    spots, places = _spots(rows, x)
    parts, notes = _parts(rows)
    kind: Any = "points" if spots.named else "line"
    lines = []
    for colour, part in enumerate(parts):
        own = {places[_bin(row)]: row for row in rows if part is None or row["by"] == part}
        mean, low, high = (_along(own, name, len(places)) for name in ("mean", "low", "high"))
        known = any(map(math.isfinite, low))
        name = f"mean {y}" if part is None else said(part)
        lines.append(Series(name, mean, colour, kind, low if known else None, high if known else None))
    counts = [0.0] * len(places)
    for row in rows:
        counts[places[_bin(row)]] += row["count"]
    bars = Series("samples", tuple(counts), kind="bars")
    chart = Chart(spots, (Panel(f"mean {y}", tuple(lines)), Panel("samples", (bars,), share=1, from_zero=True)))
    split = f", a line for each value of {by or 'by'}" if parts != [None] else ""
    total = counted(int(sum(counts)), "sample")
    known = any(line.low is not None for line in lines)
    drawn = spots.named or chart.has_bands
    interval = ", with 95 % intervals" if known and drawn else ", intervals only in the page's numbers" if known else ""
    shown = f"Mean {y} along {x}{split}{interval}; below, how many of {total} lie in each bin."
    return Figure(title, " ".join([shown, *notes, sentence(words)]).strip(), chart, height=640)


def _refuse_absent(table: pa.Table, needed: tuple[str, ...], one_of: tuple[str, ...]) -> None:
    known = table.column_names
    missing = [name for name in needed if name not in known]
    if missing or not any(name in known for name in one_of):
        wanted = ", ".join(repr(name) for name in needed)
        choice = " or ".join(repr(name) for name in one_of)
        raise ConfigurationError(
            f"`table` must have {wanted} and {choice}, but has {', '.join(known) or 'no columns'}."
        )


def _bin(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["from"], row["to"]) if "from" in row else (row["value"],)


def _spots(rows: list[dict[str, Any]], label: str) -> tuple[Spots, dict[tuple[Any, ...], int]]:
    places: dict[tuple[Any, ...], int] = {}
    for row in rows:
        places.setdefault(_bin(row), len(places))
    if "from" not in rows[0]:
        texts = tuple(said(one[0]) for one in places)
        return Spots(label, tuple(map(float, range(len(places)))), texts, (0.8,) * len(places), named=True), places
    ordered = sorted(places)
    places = {one: place for place, one in enumerate(ordered)}
    texts = tuple(number(low) if low == high else f"{number(low)} to {number(high)}" for low, high in ordered)
    span = (ordered[-1][1] - ordered[0][0]) or 1.0
    # A bin of one value would be a bar of no width.
    widths = tuple(max(float(high - low), span / 200) for low, high in ordered)
    return Spots(label, tuple((low + high) / 2 for low, high in ordered), texts, widths), places


def _parts(rows: list[dict[str, Any]]) -> tuple[list[Any], list[str]]:
    if "by" not in rows[0]:
        return [None], []
    totals: dict[Any, int] = {}
    for row in rows:
        totals[row["by"]] = totals.get(row["by"], 0) + row["count"]
    if len(totals) <= MOST_LINES:
        return list(totals), []
    kept = set(sorted(totals, key=lambda one: -totals[one])[:MOST_LINES])
    parts = [one for one in totals if one in kept]
    return parts, [f"Of {len(totals):,} lines the {MOST_LINES} with the most samples are drawn."]


def _along(rows: dict[int, dict[str, Any]], name: str, count: int) -> Numbers:
    values = (rows.get(place, {}).get(name) for place in range(count))
    return tuple(math.nan if value is None else float(value) for value in values)


def batches_figure(table: pa.Table, *, title: str = "", words: str = "") -> Figure:
    """Return loss (left) and accuracy (right) along the batches of a training, raw behind smoothed.

    `table` has a row for each batch: `step` (or `batch`), and `loss`, `accuracy` or both. `loss_smoothed` and
    `accuracy_smoothed` are drawn where they are there; without them, each is smoothed here over a fiftieth of the
    training. Of a long training each point is the mean of several batches, and a band shows their extremes.
    """
    _refuse_absent(table, (), ("loss", "accuracy"))
    _refuse_absent(table, (), ("step", "batch"))
    if not table.num_rows:
        raise AnalysisUnavailable("loss and accuracy against batches", "the table has no batches.")
    known = [name for name in ("loss", "accuracy") if _has_numbers(table, name)]
    if not known:
        raise AnalysisUnavailable("loss and accuracy against batches", "no batch has a finite loss or accuracy.")
    axis = "step" if "step" in table.column_names else "batch"
    table = table.sort_by(axis)
    steps = doubles_of(table[axis])
    each = math.ceil(len(steps) / MOST_SPOTS)
    window = max(1, round(len(steps) * SMOOTHED))
    x = _pooled(steps, each)[0]
    spots = Spots(axis, tuple(x), tuple(f"{axis} {number(float(round(one)))}" for one in x), (1.0,) * len(x))
    series: list[Series] = []
    for name in known:
        right = name == "accuracy" and "loss" in known
        series += _raw_and_smoothed(table, name, right=right, each=each, window=window)
    panel = Panel(known[0], tuple(series), "accuracy" if series[-1].right else "")
    pooled = f" Each point is the mean of {each:,} batches, with their extremes." if each > 1 else ""
    smooth = "" if "loss_smoothed" in table.column_names else f", smoothed over {counted(window, 'batch')}"
    shown = f"{' and '.join(known).capitalize()} along {len(steps):,} batches, raw behind the line{smooth}.{pooled}"
    return Figure(title, f"{shown} {sentence(words)}".strip(), Chart(spots, (panel,)), height=560)


def _has_numbers(table: pa.Table, name: str) -> bool:
    return name in table.column_names and bool(np.isfinite(doubles_of(table[name])).any())


def _raw_and_smoothed(table: pa.Table, name: str, *, right: bool, each: int, window: int) -> list[Series]:
    raw = doubles_of(table[name])
    known = f"{name}_smoothed"
    line = doubles_of(table[known]) if known in table.column_names else _smoothed(raw, window)
    colour = 0 if name == "loss" else 1
    mean, low, high = (tuple(one.tolist()) for one in _pooled(raw, each))
    behind = Series(f"{name} raw", mean, colour, faint=True, right=right)
    if each > 1:
        behind = replace(behind, low=low, high=high)
    return [behind, Series(name, tuple(_pooled(line, each)[0].tolist()), colour, right=right)]


def _pooled(values: Float64Array, each: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return mean, smallest and largest of so many values in turn, NaN where none is finite."""
    finite = np.where(np.isfinite(values), values, np.nan)
    padded = np.concatenate([finite, np.full(-len(finite) % each, np.nan)]).reshape(-1, each)
    known = np.isfinite(padded)
    count = known.sum(axis=1)
    mean = np.where(known, padded, 0).sum(axis=1) / np.where(count, count, np.nan)
    low = np.where(count, np.where(known, padded, np.inf).min(axis=1), np.nan)
    return mean, low, np.where(count, np.where(known, padded, -np.inf).max(axis=1), np.nan)


def _smoothed(values: Float64Array, window: int) -> Float64Array:
    """Return the mean over a window around each value, of those that are finite."""
    finite = np.isfinite(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(finite, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(finite)])
    before = np.maximum(np.arange(len(values)) - window // 2, 0)
    after = np.minimum(np.arange(len(values)) + (window + 1) // 2, len(values))
    count = counts[after] - counts[before]
    return np.asarray((sums[after] - sums[before]) / np.where(count, count, np.nan))
