"""Loss and accuracy against the batches of the training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.contract import Analysis, InReport
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["BatchesOfTraining"]


class BatchesOfTraining(Analysis):
    """Loss and accuracy against the batches of the training."""

    name = "batches"
    in_report = InReport("Loss and accuracy over the batches", section="training")

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        if origin is None:
            return "these samples come from arrays, not from a run"
        if origin.evaluation.run.identity.get("kind") == "evaluation":
            return "the run holds an evaluation only; no training was watched in it"
        return ""

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the curves from the trace of the run."""
        found = population.batches()
        return AnalysisResult("batches", (found.words(),), {"batches": found.table}, found.notes)

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return both curves."""
        from cutaway.analysis.population.plotting import plot_batches

        return {"batches": lambda: plot_batches(population.batches())}
