"""Samples that lie away from all that the model was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from cutaway.analysis.population.applicability import too_few
from cutaway.analysis.population.contract import InReport, RankedAnalysis
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["Outliers"]


class Outliers(RankedAnalysis):
    """Samples that lie away from all that the model was trained on."""

    name = "outliers"
    in_report = InReport("Outliers", cards=2, figures=0)
    columns: ClassVar = {**dict.fromkeys(("distance", "usual", "p"), pa.float64()), "subset": pa.string()}

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return too_few(samples)

    def rank(self, population: Candidates, seed: int, progress: Listener | None) -> Ranked:
        """Return the samples, the farthest first."""
        from cutaway.analysis.neighbours.outliers import find_outliers

        return find_outliers(population.samples, population.nearest(progress))
