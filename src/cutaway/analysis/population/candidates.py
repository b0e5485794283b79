"""The questions of a population that lead to a fix: which samples are wrong, double, strange, or worth a label.

A base of `Population` only, so that each file holds one kind of question. Each is answered by a function of arrays and
tables; here is what it needs, and that a run keeps the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.population.applicability import analysis_named, ranked_analyses
from cutaway.analysis.population.contract import RankedAnalysis
from cutaway.analysis.population.index import kept_nearest
from cutaway.analysis.population.kept import kept_ranked
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import Float32Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.clusters import Clusters
    from cutaway.analysis.comparing import Comparison
    from cutaway.analysis.insights import Insights
    from cutaway.analysis.labelling import Estimate
    from cutaway.analysis.neighbours import Index
    from cutaway.analysis.samples.origin import Origin
    from cutaway.run import Run

__all__ = ["Candidates"]


class Candidates:
    """Questions about what to fix. Each table has the columns sample, score and reason, the highest score first."""

    samples: Samples
    _nearest: Nearest | None = None

    if TYPE_CHECKING:
        # What `Population` has.
        @property
        def keeping(self) -> Origin | None: ...
        @property
        def origin(self) -> Origin | None: ...
        def index(self, progress: Listener | None = None) -> Index: ...
        def map(self, method: str = "umap", *, seed: int = 0, progress: Listener | None = None) -> Float32Array: ...
        def clusters(
            self, method: str = "hdbscan", *, count: int | None = None, seed: int = 0, progress: Listener | None = None
        ) -> Clusters: ...

    def mislabeled(self, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return samples whose label is likely wrong: `score` is that probability, `suggested` the likely label.

        It goes by what one training leaves behind: how the model took each sample while it trained, where a hook
        recorded that, the labels of the nearest samples, a linear model that leaves each sample out, and
        probabilities where they are held out.
        """
        return self.ranked("mislabeled", seed=seed, progress=progress).table

    def ambiguous(self, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return samples between classes: their neighbours, or the model, do not agree what they are."""
        return self.ranked("ambiguous", seed=seed, progress=progress).table

    def duplicates(self, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return samples that are there twice, or nearly; `other` is the one to keep."""
        return self.ranked("duplicates", seed=seed, progress=progress).table

    def leakage(self, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return samples of one subset that are in another one too, or nearly."""
        return self.ranked("leakage", seed=seed, progress=progress).table

    def outliers(self, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return samples that lie away from all that the model was trained on."""
        return self.ranked("outliers", seed=seed, progress=progress).table

    def ranked(self, question: str, *, seed: int = 0, progress: Listener | None = None) -> Ranked:
        """Return the answer of an analysis that ranks samples, with its words and notes."""
        asked = analysis_named(question)
        if not isinstance(asked, RankedAnalysis):
            there = [one.name for one in ranked_analyses()]
            raise ConfigurationError(f"{question!r} ranks no samples.", hint=f"Ask for {', '.join(there)}.")
        settings = _settings(self.samples, seed)
        return kept_ranked(self.keeping, asked, settings, self.samples, lambda: asked.rank(self, seed, progress))

    def nearest(self, progress: Listener | None = None) -> Nearest:
        """Return the nearest other samples of every sample."""
        if self._nearest is None:
            self._nearest = kept_nearest(self.keeping, self.samples, lambda: self.index(progress), progress)
        return self._nearest

    def to_label(
        self, count: int = 100, *, method: str = "mix", seed: int = 0, progress: Listener | None = None
    ) -> pa.Table:
        """Return which unlabelled samples to label next, the first one first: `coreset`, `uncertainty` or a mix."""
        return self.choose_to_label(count, method=method, seed=seed, progress=progress).table

    def choose_to_label(
        self, count: int = 100, *, method: str = "mix", seed: int = 0, progress: Listener | None = None
    ) -> Ranked:
        """Return the same with words and notes."""
        from cutaway.analysis.labelling import choose_to_label

        return choose_to_label(self.samples, count, method=method, seed=seed, progress=progress)

    def estimate(self) -> Estimate:
        """Return the estimated accuracy on unlabelled samples, with an interval."""
        from cutaway.analysis.labelling import estimate_accuracy

        return estimate_accuracy(self.samples)

    def insights(self, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return what is systematically wrong, the worst first: in words, with figures and what to do about it."""
        return self.ranked_insights(seed=seed, progress=progress).table

    def ranked_insights(self, *, seed: int = 0, progress: Listener | None = None) -> Ranked:
        """Return the same with notes. A run keeps it, and gets a finding for each insight."""
        from cutaway.analysis.insights import insight_table
        from cutaway.analysis.insights.records import record_insights

        def make() -> Ranked:
            found = self.find_insights(seed=seed, progress=progress)
            if self.keeping is not None:
                record_insights(self.keeping, found)
            return Ranked(insight_table(found), tuple(one.words for one in found), found.notes)

        return kept_ranked(self.keeping, analysis_named("insights"), _settings(self.samples, seed), self.samples, make)

    def find_insights(self, *, seed: int = 0, progress: Listener | None = None) -> Insights:
        """Return insights as values: kind, words, conditions, figures, what to do."""
        from cutaway.analysis.insights import SUMMARISED, find_insights

        ranked = {}
        for name in (one.name for one in ranked_analyses() if one.name in SUMMARISED):
            # What does not apply is no insight; `applies()` says why.
            with suppress(AnalysisUnavailable):
                ranked[name] = self.ranked(name, seed=seed, progress=progress)
        groups = None
        with suppress(AnalysisUnavailable):
            groups = self.clusters(seed=seed, progress=progress).labels
        return find_insights(
            self.samples,
            self.nearest(progress),
            clusters=groups,
            ranked=ranked,
            seed=seed,
            progress=progress,
        )

    def compare(self, other: Self | Run | str | Path, *, seed: int = 0, progress: Listener | None = None) -> pa.Table:
        """Return the samples on which two models differ: flips for better and for worse.

        `other` is a population, a run, or a model file, which is then evaluated on the same data set.
        """
        return self.comparison(other, seed=seed, progress=progress).table

    def comparison(
        self,
        other: Self | Run | str | Path,
        *,
        subsets: Sequence[str] | None = None,
        seed: int = 0,
        progress: Listener | None = None,
    ) -> Comparison:
        """Return the same with what it means: the difference with its interval, by slice, and where on the map.

        `subsets` are compared together; by default the held-out ones, without training.
        """
        from cutaway.analysis.comparing import compare_samples
        from cutaway.analysis.population.comparing import other_population

        against = other if isinstance(other, Candidates) else other_population(self.origin, other, progress)
        positions = None
        with suppress(AnalysisUnavailable):
            positions = self.map(seed=seed, progress=progress)
        return compare_samples(self.samples, against.samples, positions=positions, subsets=subsets)


def _settings(samples: Samples, seed: int) -> dict[str, int]:
    """What a kept answer depends on: a training that went on after the evaluation knows more of the same samples."""
    visits = 0 if samples.dynamics is None else int(samples.dynamics.visits.sum())
    return {"seed": seed, "visits": visits}
