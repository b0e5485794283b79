"""Samples that are there twice, or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.doubles.groups import PAIR_COLUMNS
from cutaway.analysis.population.applicability import no_pairs
from cutaway.analysis.population.contract import InReport, RankedAnalysis
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["Duplicates"]


class Duplicates(RankedAnalysis):
    """Samples that are there twice, or nearly."""

    name = "duplicates"
    in_report = InReport("Duplicates", cards=2, figures=0)
    columns = PAIR_COLUMNS

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_pairs(samples)

    def rank(self, population: Candidates, seed: int, progress: Listener | None) -> Ranked:
        """Return the samples with the one to keep."""
        from cutaway.analysis.doubles import find_duplicates

        return find_duplicates(population.samples, population.nearest(progress))
