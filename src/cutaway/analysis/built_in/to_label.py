"""Which unlabelled samples to label next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_labels
from cutaway.analysis.population.contract import Analysis, InReport, ranked_figures
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ToLabel"]


@dataclass(frozen=True)
class ToLabelOptions:
    """What can be asked of samples to label."""

    method: str = option("mix", metavar="NAME", help="mix, coreset, uncertainty.")
    count: int = option(100, metavar="N", least=1, help="so many samples.")


class ToLabel(Analysis):
    """Which unlabelled samples to label next."""

    name = "to label"
    options = ToLabelOptions
    in_report = InReport("What to label next", cards=1, figures=0)

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        if "unlabeled" in samples.column(SUBSET).unique().to_pylist():
            return ""
        reason = no_labels(samples, origin)
        if reason or samples.column(LABEL).null_count:
            return reason
        return "every sample has a label; put those without one into the subset `unlabeled`"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the samples, the first to label first, and an estimate of the accuracy on them."""
        return self._part(population, ToLabelOptions(), seed, progress)

    def answer(
        self, population: Population, options: ToLabelOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return so many samples by the method that was asked for."""
        part = self._part(population, options, seed, progress)
        part = replace(part, title=f"to label, by {options.method}", shown=self.name)
        return replace(part, figures=self.figures(population, part, seed))

    def _part(
        self, population: Population, options: ToLabelOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        found = population.choose_to_label(options.count, method=options.method, seed=seed, progress=progress)
        words, notes = list(found.words), list(found.notes)
        try:
            estimate = population.estimate()
        except AnalysisUnavailable as error:
            notes.append(str(error))
        else:
            words.append(estimate.words)
            notes += estimate.notes
        return AnalysisResult(self.name, tuple(words), {self.name: found.table}, tuple(notes))

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return pictures of the first samples."""
        return ranked_figures(population, part)
