"""Samples whose label is likely wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from cutaway.analysis.population.applicability import no_labels
from cutaway.analysis.population.contract import InReport, RankedAnalysis
from cutaway.analysis.samples import LABEL, Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["Mislabeled"]


class Mislabeled(RankedAnalysis):
    """Samples whose label is likely wrong."""

    name = "mislabeled"
    in_report = InReport("Labels that look wrong", cards=1, figures=0)
    columns: ClassVar[Mapping[str, pa.DataType]] = {
        **dict.fromkeys(("subset", "label", "suggested"), pa.string()),
        "suggested_score": pa.float64(),
    }

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        reason = no_labels(samples, origin)
        if reason:
            return reason
        labels = samples.column(LABEL).unique().drop_null()
        return "" if len(labels) > 1 else f"every sample has the label {labels[0].as_py()!r}"

    def rank(self, population: Candidates, seed: int, progress: Listener | None) -> Ranked:
        """Return the samples, the likeliest first."""
        from cutaway.analysis.labels import find_mislabeled

        return find_mislabeled(population.samples, population.nearest(progress), seed=seed, progress=progress)
