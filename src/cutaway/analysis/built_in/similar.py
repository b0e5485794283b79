"""The samples nearest to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import too_few
from cutaway.analysis.population.contract import Analysis, AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["SimilarSamples"]


class SimilarSamples(Analysis):
    """The samples nearest to one."""

    name = "similar"
    of_single_samples = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return too_few(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Make the index of neighbours, which whoever asks of a sample then finds."""
        population.index(progress)
        return AnalysisResult(self.name)
