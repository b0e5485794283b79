"""Which classes are taken for which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_labels
from cutaway.analysis.population.contract import Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import CORRECT, PREDICTION, SUBSET, Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ConfusionOfClasses"]


@dataclass(frozen=True)
class ConfusionOptions:
    """What a confusion matrix can be asked with."""

    by: str | None = option(metavar="COLUMN", help="split by this column.")


class ConfusionOfClasses(Analysis):
    """Which classes are taken for which."""

    name = "confusion"
    options = ConfusionOptions
    in_report = InReport(section="confusion")
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

    def answer(
        self, population: Population, options: ConfusionOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return the same, split by a column, with the pairs that are confused most."""
        from cutaway.analysis.population.plotting import plot_confusion

        found = population.confusion(by=options.by)
        return AnalysisResult(
            self.name,
            (found.words(), *(f"{name}: {one.words()}" for name, one in found.parts.items())),
            {"confusion": found.pairs, "most_confused": found.most_confused(), "classes": found.by_class},
            found.notes,
            figures={"confusion": lambda: plot_confusion(found)},
            shown="most_confused",
        )

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the matrix."""
        from cutaway.analysis.population.plotting import plot_confusion

        return {"confusion": lambda: plot_confusion(population.confusion())}
