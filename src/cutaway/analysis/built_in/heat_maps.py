"""Where the model looked in a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_model
from cutaway.analysis.population.contract import Analysis, AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["HeatMapsOfSample"]


class HeatMapsOfSample(Analysis):
    """Where the model looked in a sample."""

    name = "heat maps"
    of_single_samples = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_model(origin)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Raise: a heat map is of one sample."""
        raise AnalysisUnavailable(self.name, "they are of one sample: ask with `heat_maps(sample)`.")
