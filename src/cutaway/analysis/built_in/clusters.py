"""Clusters of the map, and what distinguishes each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cutaway.analysis.population.applicability import all_the_same, too_few
from cutaway.analysis.population.contract import MOST_IN_WORDS, Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener
from cutaway.run.evaluated.kept import map_digest

if TYPE_CHECKING:
    from cutaway.analysis.clusters import Clusters
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ClustersOfMap"]


@dataclass(frozen=True)
class ClusterOptions:
    """What clusters can be asked with."""

    method: str | None = option(metavar="NAME", help="hdbscan, kmeans.")
    count: int | None = option(metavar="N", least=1, help="how many, for kmeans.")


class ClustersOfMap(Analysis):
    """Clusters of the map, and what distinguishes each."""

    name = "clusters"
    options = ClusterOptions
    in_report = InReport("Clusters", section="maps", tables=False)
    further = ("words", "traits")

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return too_few(samples) or all_the_same(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return who is in which cluster, and what distinguishes each."""
        part = self._part(population, population.clusters(seed=seed, progress=progress))
        more = len(part.words) - MOST_IN_WORDS
        rest = (f"and {more} more in the table",) if more > 0 else ()
        return replace(part, words=(part.title, *part.words[:MOST_IN_WORDS], *rest), title="")

    def answer(
        self, population: Population, options: ClusterOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return clusters by the method that was asked for, each in words; those of the map are kept in the run."""
        from cutaway.analysis.population.plotting import plot_clusters

        if options == ClusterOptions():
            part = super().answer(population, options, seed, progress)
            told = (part.tables["words"][name].to_pylist() for name in ("cluster", "words"))
            words = tuple(f"cluster {cluster}: {said}" for cluster, said in zip(*told, strict=True))
            return replace(part, words=words, title=part.words[0], shown=None)
        found = population.clusters(options.method or "hdbscan", count=options.count, seed=seed, progress=progress)
        figures = {"clusters": lambda: plot_clusters(population, found, seed=seed)}
        return replace(self._part(population, found), figures=figures)

    def _part(self, population: Population, found: Clusters) -> AnalysisResult:
        from cutaway.analysis.clusters import cluster_table, membership_table, trait_table

        described = population.describe(found)
        tables = {
            "clusters": membership_table(found, population.ids),
            "words": cluster_table(found, described),
            "traits": trait_table(described),
        }
        words = tuple(f"cluster {one.cluster}: {one.words}" for one in described)
        return AnalysisResult(self.name, words, tables, found.notes, title=f"{len(found)} clusters by {found.method}")

    def settings(self, population: Population, seed: int, progress: Listener | None) -> dict[str, Any]:
        """Return the seed and the map: it is another one once there is an earlier map to align it to."""
        positions = population.map(seed=seed, progress=progress)
        return {"seed": seed, "map": map_digest(positions)}

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the map, coloured by cluster."""
        from cutaway.analysis.population.plotting import plot_clusters

        return {"clusters": lambda: plot_clusters(population, population.clusters(seed=seed), seed=seed)}
