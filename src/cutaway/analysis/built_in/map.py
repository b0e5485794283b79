"""The map of each subset, and of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cutaway.analysis.population.applicability import no_vector
from cutaway.analysis.population.contract import Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener
from cutaway.run.evaluated.kept import has_ids, is_map

if TYPE_CHECKING:
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.mapping import Map
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["MapOfSamples"]


@dataclass(frozen=True)
class MapOptions:
    """What a map can be asked with."""

    method: str | None = option(metavar="NAME", help="umap, tsne, pca.")
    color: str | None = option(metavar="COLUMN", help="colour by it; by default the label.")
    size: str | None = option(metavar="COLUMN", help="size by it; by default the loss.")
    balance_by: tuple[str, ...] = option((), metavar="COLUMN", help="as many samples of each value; needs --count.")
    count: int | None = option(metavar="N", least=1, help="so many samples.")
    device: str | None = option(metavar="cpu|cuda", help="where it is made; by default the GPU.")


class MapOfSamples(Analysis):
    """The map of each subset, and of all together."""

    name = "map"
    options = MapOptions
    in_report = InReport("Where the samples lie", section="maps", tables=False)
    kept_by_population = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_vector(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the map of each subset and the joint one."""
        words: list[str] = []
        notes: list[str] = []
        tables: dict[str, pa.Table] = {}
        each = population.by_subset()
        for name, part in each.items() if len(each) == 1 else [*each.items(), ("joint", population)]:
            try:
                made = part.make_map(seed=seed, progress=progress)
            except AnalysisUnavailable as error:
                # A subset of which every sample failed costs the others nothing.
                notes.append(f"{name}: {error}")
                continue
            placed = int(np.isfinite(made.positions).all(axis=1).sum())
            words.append(f"{name}: {placed:,} samples{_trust(made)}")
            notes += [f"{name}: {note}" for note in made.notes]
            tables[name] = _table(part, made)
        return AnalysisResult("map", tuple(words), tables, tuple(notes))

    def answer(
        self, population: Population, options: MapOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return one map of all samples that are meant."""
        from cutaway.analysis.population.plotting import plot_map

        if options.balance_by and options.count is None:
            raise ConfigurationError("`--balance-by` needs `--count`, the number of samples to choose.")
        if options.count is not None:
            population = population.balanced(list(options.balance_by), options.count, seed=seed)
        made = population.make_map(options.method or "umap", seed=seed, device=options.device, progress=progress)
        return AnalysisResult(
            self.name,
            (f"{len(population):,} samples{_trust(made)}",),
            {"map": _table(population, made)},
            made.notes,
            title=f"map by {made.method}",
            figures={"map": lambda: plot_map(population, made.positions, color=options.color, size=options.size)},
            shown="map",
        )

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return a figure of each map."""
        each = {**population.by_subset(), "joint": population}
        return {name: partial(_drawn, each[name], seed) for name in part.tables}

    def is_own(self, table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
        """Whether a kept table is a map of these samples."""
        return is_map(table) and has_ids(table, ids)


def _trust(made: Map) -> str:
    return "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"


def _table(population: Population, made: Map) -> pa.Table:
    x, y = made.positions.T
    return pa.table({"sample": population.ids, "x": x, "y": y})


def _drawn(population: Population, seed: int) -> Figure:
    from cutaway.analysis.population.plotting import plot_map

    return plot_map(population, population.map(seed=seed))
