"""Which unlabelled samples to label next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_labels
from cutaway.analysis.population.contract import Analysis, AnalysisResult, Draw, ranked_figures
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ToLabel"]

# So many samples are proposed where nobody says how many.
MOST_TO_LABEL = 100


class ToLabel(Analysis):
    """Which unlabelled samples to label next."""

    name = "to label"

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
        found = population.choose_to_label(MOST_TO_LABEL, seed=seed, progress=progress)
        words, notes = list(found.words), list(found.notes)
        try:
            estimate = population.estimate()
        except AnalysisUnavailable as error:
            notes.append(str(error))
        else:
            words.append(estimate.words)
            notes += estimate.notes
        return AnalysisResult("to label", tuple(words), {"to label": found.table}, tuple(notes))

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return pictures of the first samples."""
        return ranked_figures(population, part)
