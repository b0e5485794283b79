"""How far each sample is from the centre of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.applicability import no_class_distances
from cutaway.analysis.population.contract import Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener
from cutaway.run.evaluated.kept import has_ids

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["DistancesToClasses"]


@dataclass(frozen=True)
class DistanceOptions:
    """What distances to classes can be asked with."""

    sample: tuple[str, ...] = option((), metavar="ID", help="about this sample.")


class DistancesToClasses(Analysis):
    """How far each sample is from the centre of each class."""

    name = "class distances"
    options = DistanceOptions
    in_report = InReport("Distances to the classes", section="explained", figures=0, tables=False)

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_class_distances(samples, origin)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the distances of all samples."""
        found = population.distances()
        return AnalysisResult(
            "class distances", (found.said,) if found.said else (), {"class distances": found.table}, found.notes
        )

    def answer(
        self, population: Population, options: DistanceOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return the same, which the run keeps, or the distances of single samples in words and pictures."""
        from cutaway.analysis.population.plotting import plot_distances

        title = "distances to the classes"
        if not options.sample:
            return replace(super().answer(population, options, seed, progress), shown=None, title=title)
        found = population.distances()
        rows = [population.row(one) for one in options.sample]
        return AnalysisResult(
            self.name,
            tuple(f"{population.ids[row]}: {found.in_words(row)}" for row in rows),
            {self.name: found.table},
            found.notes,
            title=title,
            figures={population.ids[row]: partial(plot_distances, population, found, row) for row in rows},
        )

    def is_own(self, table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
        """Whether a kept table has a row for each of these samples, in their order."""
        return has_ids(table, ids)
