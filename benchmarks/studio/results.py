"""Turns what was measured into rows with their bars. Pure: no clock, no files."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.figures import Bar, Estimate, Side, median_interval, ratio_interval, verdict
from benchmarks.results import StoreRow

__all__ = [
    "curve_rows",
    "live_rows",
    "map_rows",
    "memory_rows",
    "overview_rows",
    "paint_rows",
    "population_rows",
    "run_rows",
    "sample_rows",
    "size_rows",
]

Answer = dict[str, Any]
# What a page may take beyond an empty one, whatever the machine.
ALLOWANCE_MS = 300.0
# Of regl-scatterplot's time, by how many points there are.
MAP_BARS = {60_000: 0.75, 1_000_000: 0.5}
# Seconds until a map is painted, by how many points there are: by a server just started, and by one asked before.
POPULATION_BARS = {1_000_000: (4.0, 2.0), 60_000: (None, 1.0)}
MOST_WHILE_MOVING = 100_000


def paint_rows(found: Answer) -> list[StoreRow]:
    """A run's page, less the allowance, over an empty page."""
    ours, blank = np.array(found["ours"]), np.array(found["blank"])
    ratio = ratio_interval(np.maximum(ours - ALLOWANCE_MS, 0.0), blank)
    figures = f"({np.median(ours):.0f} - {ALLOWANCE_MS:.0f}) / {np.median(blank):.0f} ms"
    return [_row("paint", "first curve of a run, less 300 ms / blank page", figures, ratio, Bar(1.5))]


def curve_rows(found: Answer) -> list[StoreRow]:
    """TensorBoard's time over ours."""
    ours, theirs = np.array(found["ours"]), np.array(found["theirs"])
    label = f"first curve, TensorBoard / ours ({found['series']} series of {found['steps']:,})"
    figures = f"{np.median(theirs):.0f} / {np.median(ours):.0f} ms"
    return [_row("curves", label, figures, ratio_interval(theirs, ours), Bar(3, Side.AT_LEAST))]


def overview_rows(found: Answer) -> list[StoreRow]:
    """The stripes, by a server that was just started and by one that was asked before."""
    first, later = np.array(found["first"]) / 1000, np.array(found["later"]) / 1000
    size = f"{found['tensors']:,} tensors x {found['steps']:,} steps"
    told = f"written in {found['made']:.0f} s; the server had {found['memory_mb']:.0f} MB"
    return [
        _row("overview", f"overview of {size}, seconds", told, median_interval(first), Bar(2)),
        _row("overview-warm", "  asked again, seconds", "", median_interval(later), None),
    ]


def run_rows(found: Answer) -> list[StoreRow]:
    """The table of runs."""
    first = f"first index {found['indexed']:.1f} s, {1000 * found['indexed'] / found['runs']:.2f} ms a run"
    table = f"table shown after {np.median(found['table']):.0f} ms"
    whole = median_interval(np.array(found["sorted"]) / 1000)
    start = median_interval(np.array(found["start"]))
    return [
        _row("runs", f"{found['runs']:,} runs, seconds until sorted by a click", table, whole, Bar(1)),
        _row("runs-start", "  restart with its cache until all are listed, seconds", first, start, None),
    ]


def memory_rows(found: Answer) -> list[StoreRow]:
    """How the server's memory grew."""
    label = f"server memory, after {found['loads']:,} loads / after {found['loads'] // 10:,}"
    figures = f"{found['late']:.0f} / {found['early']:.0f} MB"
    return [_row("memory", label, figures, _exactly(found["late"] / found["early"]), Bar(1.05))]


def live_rows(found: Answer) -> list[StoreRow]:
    """How late the page is; the worst step counts."""
    late = np.array(found["seconds"])
    figures = f"median {np.median(late):.2f} s of {late.size} steps"
    return [_row("live", "a live step on the page, worst, seconds", figures, _exactly(float(late.max())), Bar(2))]


def size_rows(heaviest: float, everything: float) -> list[StoreRow]:
    """What the scripts weigh: those of the page that loads most, and all of them."""
    figures = f"of {everything:.0f} kB in all"
    return [_row("size", "scripts of the heaviest page, gzipped, kB", figures, _exactly(heaviest), Bar(150))]


def map_rows(found: Answer) -> list[StoreRow]:
    """Our map's time over the other's, and what a lasso takes."""
    rows: list[StoreRow] = []
    for count, times in found["sizes"].items():
        bar = Bar(MAP_BARS[count]) if count in MAP_BARS else None
        for kind, words in (
            ("painted", "points until painted"),
            ("filtered", "points, a tenth selected, until painted"),
        ):
            ours, theirs, card = (np.array(times[name][kind]) for name in ("ours", "theirs", "card"))
            figures = f"{np.median(ours):.0f} / {np.median(theirs):.0f} ms; {times['moving']:,} drawn while moving"
            label = f"{count:,} {words}, ours / regl-scatterplot"
            rows.append(_row(f"map-{kind}-{count}", label, figures, ratio_interval(ours, theirs), bar))
            drawn = f"{np.median(card):.0f} / {np.median(theirs):.0f} ms"
            aside = "  the same, every point by WebGL"
            rows.append(_row(f"map-{kind}-{count}-webgl", aside, drawn, ratio_interval(card, theirs), None))
    lasso = np.array(found["lasso"])
    label = f"a lasso around some of {found['lasso_points']:,} points, ms"
    return [*rows, _row("map-lasso", label, "without drawing", median_interval(lasso), Bar(60))]


def population_rows(found: Answer) -> list[StoreRow]:
    """The page's map from the navigation on, what a lasso by the mouse takes, and what is drawn while moving."""
    rows: list[StoreRow] = []
    for count, times in found["sizes"].items():
        cold, warm = (np.array(times[kind]) / 1000 for kind in ("cold", "warm"))
        bars = [None if one is None else Bar(one) for one in POPULATION_BARS.get(count, (None, None))]
        told = f"the server had {times['memory_mb']:.0f} MB"
        label = f"population of {count:,}, server just started, until painted, seconds"
        rows.append(_row(f"population-{count}", label, told, median_interval(cold), bars[0]))
        rows.append(_row(f"population-{count}-warm", "  opened again, seconds", "", median_interval(warm), bars[1]))
    lasso, points = np.array(found["lasso"]), found["lasso_points"]
    label = f"a lasso by the mouse, {points:,} points, ms"
    told = f"with all that follows, without drawing; worst {lasso.max():.0f} ms"
    rows.append(_row("population-lasso", label, told, median_interval(lasso), Bar(60)))
    moving = _exactly(float(found["moving"]))
    return [
        *rows,
        _row("population-moving", "  points drawn while dragged, median picture", "", moving, Bar(MOST_WHILE_MOVING)),
    ]


def sample_rows(found: Answer) -> list[StoreRow]:
    """From a click on the next sample until the pictures of its similars and its heat map are painted."""
    similars, heat, sanity = (np.array(found[kind]) for kind in ("similars", "heat", "sanity"))
    first = median_interval(np.array(found["first"]) / 1000)
    worst = f"worst {similars.max():.0f} ms"
    return [
        _row("sample-similars", "similars, click to pictures, ms", worst, median_interval(similars), Bar(100)),
        _row("sample-heat", "heat map, click to painted, seconds", "", median_interval(heat / 1000), Bar(1)),
        _row("sample-sanity", "  with how far it can be trusted, seconds", "", median_interval(sanity / 1000), None),
        _row("sample-first", "  first similars of a server just started, seconds", "", first, None),
    ]


def _row(key: str, label: str, figures: str, estimate: Estimate, bar: Bar | None) -> StoreRow:
    return StoreRow(key, label, figures, estimate, bar, verdict(estimate, bar))


def _exactly(value: float) -> Estimate:
    return Estimate(value, value, value)
