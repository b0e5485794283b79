"""Figures of a population: puts together what `figures` draws with the rows, names and previews of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.figures import Figure, map_figure
from cutaway.analysis.samples import SUBSET, Floats
from cutaway.run.preview_files import has_previews, previews

if TYPE_CHECKING:
    from cutaway.analysis.population import Population

__all__ = ["plot_map", "previews_of"]


def plot_map(
    population: Population,
    positions: Floats,
    *,
    color: str | None = None,
    size: str | None = None,
    hover: Sequence[str] = (),
    title: str = "",
    rows: Sequence[int] | None = None,
) -> Figure:
    """Return the map of a population, with the previews of its run; samples other than those of `rows` are dimmed."""
    return map_figure(
        positions,
        population.table,
        color=color,
        size=size,
        hover=hover,
        previews=previews_of(population),
        title=title or _title(population),
        selected=None if rows is None else [population.ids[row] for row in rows],
    )


def previews_of(population: Population, ids: Sequence[str] | None = None) -> dict[str, bytes]:
    """Return the previews of the samples, or of some, by id; empty where there is no run."""
    if population.origin is None:
        return {}
    run = population.origin.evaluation.run
    wanted = set(population.ids if ids is None else ids)
    found: dict[str, bytes] = {}
    for subset in dict.fromkeys(population.table[SUBSET].to_pylist()):
        if has_previews(run, subset):
            found |= {name: png for name, png in previews(run, subset) if png is not None and name in wanted}
    return found


def _title(population: Population) -> str:
    counts = pa.array(population.table[SUBSET].to_pylist()).value_counts().to_pylist()
    listed = ", ".join(f"{one['counts']:,} {one['values']}" for one in counts)
    where = "" if population.origin is None else f"{population.origin.evaluation.run.name}: "
    return f"{where}{listed}"
