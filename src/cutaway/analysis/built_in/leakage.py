"""Samples of one subset that are in another one too, or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.doubles.groups import PAIR_COLUMNS
from cutaway.analysis.population.applicability import no_pairs
from cutaway.analysis.population.contract import InReport, RankedAnalysis
from cutaway.analysis.samples import SUBSET, Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["Leakage"]

ONE_SUBSET = "it takes two subsets, and there is one"


class Leakage(RankedAnalysis):
    """Samples of one subset that are in another one too, or nearly."""

    name = "leakage"
    in_report = InReport("Leakage between subsets", cards=2, figures=0)
    columns = PAIR_COLUMNS

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_pairs(samples) or ("" if len(samples.column(SUBSET).unique()) > 1 else ONE_SUBSET)

    def rank(self, population: Candidates, seed: int, progress: Listener | None) -> Ranked:
        """Return the duplicates that lie in two subsets."""
        from cutaway.analysis.doubles import find_leakage

        if len(population.samples.column(SUBSET).unique()) < 2:
            raise AnalysisUnavailable(self.name, f"{ONE_SUBSET}.")
        return find_leakage(population.ranked("duplicates", seed=seed, progress=progress), population.samples)
