"""Samples between classes: their neighbours, or the model, do not agree what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.applicability import no_labels, too_few
from cutaway.analysis.population.contract import InReport, RankedAnalysis
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["Ambiguous"]


class Ambiguous(RankedAnalysis):
    """Samples between classes: their neighbours, or the model, do not agree what they are."""

    name = "ambiguous"
    in_report = InReport("Ambiguous samples", cards=2, figures=0)
    columns = dict.fromkeys(("between", "subset"), pa.string())

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return "" if samples.probabilities is not None else too_few(samples) or no_labels(samples, origin)

    def rank(self, population: Candidates, seed: int, progress: Listener | None) -> Ranked:
        """Return the samples, the least clear first."""
        from cutaway.analysis.classes.ambiguous import find_ambiguous

        return find_ambiguous(population.samples, population.nearest(progress))
