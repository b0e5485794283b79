"""The analyses that rank single samples, the one to look at first on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from cutaway.analysis.doubles.groups import PAIR_COLUMNS
from cutaway.analysis.population.applicability import no_labels, no_pairs, too_few
from cutaway.analysis.population.contract import InReport, RankedAnalysis
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["Ambiguous", "Duplicates", "Leakage", "Mislabeled", "Outliers"]

ONE_SUBSET = "it takes two subsets, and there is one"


class Mislabeled(RankedAnalysis):
    """Samples whose label is likely wrong."""

    name = "mislabeled"
    in_report = InReport("Labels that look wrong", cards=1, figures=0)
    columns = dict.fromkeys(("subset", "label", "suggested"), pa.string())

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
