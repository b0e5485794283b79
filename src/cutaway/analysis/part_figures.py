"""The figures of the whole analysis, part by part; each is drawn when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cutaway.analysis.candidates import RANKED
from cutaway.analysis.figures import Figure
from cutaway.analysis.plotting import (
    plot_batches,
    plot_clusters,
    plot_confusion,
    plot_curve,
    plot_map,
    plot_ranked,
    plot_units,
)
from cutaway.analysis.population import Population
from cutaway.analysis.ranked import Ranked
from cutaway.analysis.samples import LOSS
from cutaway.analysis.whole import Part

__all__ = ["Draw", "figures_of_part"]

Draw = Callable[[], Figure]


def figures_of_part(population: Population, part: Part, *, seed: int = 0) -> dict[str, Draw]:
    """Return what can be drawn of one part, by name; nothing of a part that does not apply."""
    if part.reason or part.analysis not in _FIGURES:
        return {}
    return _FIGURES[part.analysis](population, part, seed)


def _maps(population: Population, part: Part, seed: int) -> dict[str, Draw]:
    each = {**population.by_subset(), "joint": population}
    return {name: partial(_map, each[name], seed) for name in part.tables}


def _map(population: Population, seed: int) -> Figure:
    return plot_map(population, population.map(seed=seed))


def _clusters(population: Population, _: Part, seed: int) -> dict[str, Draw]:
    return {"clusters": lambda: plot_clusters(population, population.clusters(seed=seed), seed=seed)}


def _curves(population: Population, part: Part, _: int) -> dict[str, Draw]:
    columns = population.table.column_names
    y = LOSS if population.samples.has(LOSS) else next(one for one in columns if one.startswith("metric."))
    names = part.tables["curve"]["x"].unique().to_pylist()
    return {name: partial(_curve, population, name, y) for name in names}


def _curve(population: Population, x: str, y: str) -> Figure:
    return plot_curve(population.curve(x, y))


def _ranked(population: Population, part: Part, _: int) -> dict[str, Draw]:
    found = Ranked(part.tables[part.analysis], part.words, part.notes)
    return {part.analysis: lambda: plot_ranked(population, part.analysis, found)} if len(found) else {}


_FIGURES: dict[str, Callable[[Population, Part, int], dict[str, Draw]]] = {
    "map": _maps,
    "clusters": _clusters,
    "units": lambda population, _, __: {"units": lambda: plot_units(population, population.units())},
    "curve": _curves,
    "confusion": lambda population, _, __: {"confusion": lambda: plot_confusion(population.confusion())},
    "batches": lambda population, _, __: {"batches": lambda: plot_batches(population.batches())},
    **dict.fromkeys((*RANKED, "to label"), _ranked),
}
