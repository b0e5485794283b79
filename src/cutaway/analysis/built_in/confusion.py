"""Which classes are taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_labels
from cutaway.analysis.population.contract import Analysis, AnalysisResult, Draw
from cutaway.analysis.samples import CORRECT, PREDICTION, SUBSET, Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ConfusionOfClasses"]


class ConfusionOfClasses(Analysis):
    """Which classes are taken for which."""

    name = "confusion"
    further = ("classes",)

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        reason = no_labels(samples, origin)
        if reason:
            return reason
        return "" if samples.has(PREDICTION) and samples.has(CORRECT) else "these samples have no predictions"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the pairs of classes, and how each class did, by subset."""
        found = population.confusion(by=SUBSET)
        words = [f"{name}: {one.words()}" for name, one in found.parts.items()] or [found.words()]
        tables = {"confusion": found.pairs, "classes": found.by_class}
        return AnalysisResult("confusion", tuple(words), tables, found.notes)

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the matrix."""
        from cutaway.analysis.population.plotting import plot_confusion

        return {"confusion": lambda: plot_confusion(population.confusion())}
