"""The map of each subset, and of all together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cutaway.analysis.population.applicability import no_vector
from cutaway.analysis.population.contract import Analysis, AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["MapOfSamples"]


class MapOfSamples(Analysis):
    """The map of each subset, and of all together."""

    name = "map"
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
            trust = "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"
            words.append(f"{name}: {placed:,} samples{trust}")
            notes += [f"{name}: {note}" for note in made.notes]
            x, y = made.positions.T
            tables[name] = pa.table({"sample": part.ids, "x": x, "y": y})
        return AnalysisResult("map", tuple(words), tables, tuple(notes))

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return a figure of each map."""
        each = {**population.by_subset(), "joint": population}
        return {name: partial(_drawn, each[name], seed) for name in part.tables}


def _drawn(population: Population, seed: int) -> Figure:
    from cutaway.analysis.population.plotting import plot_map

    return plot_map(population, population.map(seed=seed))
