"""How far each sample is from the centre of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_class_distances
from cutaway.analysis.population.contract import Analysis, AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["DistancesToClasses"]


class DistancesToClasses(Analysis):
    """How far each sample is from the centre of each class."""

    name = "class distances"

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_class_distances(samples, origin)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the distances of all samples."""
        found = population.distances()
        return AnalysisResult(
            "class distances", (found.said,) if found.said else (), {"class distances": found.table}, found.notes
        )
