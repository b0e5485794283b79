"""What is systematically wrong, the gravest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.contract import MOST_SAID, Analysis, AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["InsightsOfAll"]


class InsightsOfAll(Analysis):
    """What is systematically wrong, the gravest first."""

    name = "insights"
    kept_by_population = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return "" if len(samples) > 1 else f"it takes two samples, and there are {len(samples)}"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return all insights; of many, the first in words."""
        found = population.ranked_insights(seed=seed, progress=progress)
        words = list(found.words[:MOST_SAID])
        if len(found) > MOST_SAID:
            words.append(f"and {len(found) - MOST_SAID} more in the table")
        return AnalysisResult(
            "insights", tuple(words or ["nothing is systematically wrong"]), {"insights": found.table}, found.notes
        )
