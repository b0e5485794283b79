"""Clusters of the map, and what distinguishes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cutaway.analysis.population.applicability import all_the_same, too_few
from cutaway.analysis.population.contract import MOST_SAID, Analysis, AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener
from cutaway.run.evaluated.kept import map_digest

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ClustersOfMap"]


class ClustersOfMap(Analysis):
    """Clusters of the map, and what distinguishes each."""

    name = "clusters"
    further = ("words", "traits")

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return too_few(samples) or all_the_same(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return who is in which cluster, and what distinguishes each."""
        from cutaway.analysis.clusters import cluster_table, membership_table, trait_table

        found = population.clusters(seed=seed, progress=progress)
        described = population.describe(found)
        words = [f"{len(found)} clusters by {found.method}"]
        words += [f"cluster {one.cluster}: {one.words}" for one in described[:MOST_SAID]]
        if len(described) > MOST_SAID:
            words.append(f"and {len(described) - MOST_SAID} more in the table")
        tables = {
            "clusters": membership_table(found, population.ids),
            "words": cluster_table(found, described),
            "traits": trait_table(described),
        }
        return AnalysisResult("clusters", tuple(words), tables, found.notes)

    def settings(self, population: Population, seed: int, progress: Listener | None) -> dict[str, Any]:
        """Return the seed and the map: it is another one once there is an earlier map to align it to."""
        positions = population.map(seed=seed, progress=progress)
        return {"seed": seed, "map": map_digest(positions)}

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the map, coloured by cluster."""
        from cutaway.analysis.population.plotting import plot_clusters

        return {"clusters": lambda: plot_clusters(population, population.clusters(seed=seed), seed=seed)}
