"""What in a sample raises and lowers the loss."""

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

__all__ = ["LossHeatMapsOfSample"]


class LossHeatMapsOfSample(Analysis):
    """What in a sample raises and lowers the loss."""

    name = "loss heat maps"
    of_single_samples = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        if origin is None:
            return no_model(origin)
        return "" if origin.answer.truth is not None else "no prediction is compared with a ground truth"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Raise: a heat map is of one sample."""
        raise AnalysisUnavailable(self.name, "they are of one sample: ask with `heat_maps(sample, loss=True)`.")
