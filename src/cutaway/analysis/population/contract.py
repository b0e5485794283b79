"""`Analysis`: one question about the samples of a population, and all that is asked of it elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["MOST_SAID", "Analysis", "AnalysisResult", "Draw", "RankedAnalysis", "ranked_figures"]

# Of many clusters, curves or insights, so many are put into words; the tables have all.
MOST_SAID = 8
Draw = Callable[[], "Figure"]


@dataclass(frozen=True)
class AnalysisResult:
    """One analysis: what it says in words, its tables by name, and where it does not apply, why."""

    analysis: str
    words: tuple[str, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""


class Analysis(ABC):
    """One analysis. A subclass gives its name and `make`; the rest where the defaults do not fit.

    Importing its file must be quick, since lists of analyses are shown where none is made: import what computes and
    what draws inside the methods.
    """

    name: ClassVar[str]
    # The tables that its part has beside its own, which is called as the analysis is.
    further: ClassVar[tuple[str, ...]] = ()
    # Whether the population keeps its answer, whoever asks; otherwise `analyze` keeps the tables of the part.
    kept_by_population: ClassVar[bool] = False
    # Whether it is asked of single samples only, and left out where everything is analysed.
    of_single_samples: ClassVar[bool] = False

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples, without computing anything; empty where it does."""
        return ""

    @abstractmethod
    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the part, or raise `AnalysisUnavailable` with what is known only when it is asked."""

    def settings(self, population: Population, seed: int, progress: Listener | None) -> dict[str, Any]:
        """Return what the kept tables depend on beside the samples."""
        return {"seed": seed}

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return what can be drawn of a part, also of one that was read from the run; drawn when it is called."""
        return {}


class RankedAnalysis(Analysis):
    """An analysis that ranks samples. `Population.ranked` asks it, and a run keeps the table."""

    kept_by_population = True

    @abstractmethod
    def rank(self, population: Candidates, seed: int, progress: Listener | None) -> Ranked:
        """Return the ranked samples with words and notes."""

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the ranked table, from the run where it keeps it."""
        found = population.ranked(self.name, seed=seed, progress=progress)
        return AnalysisResult(self.name, found.words, {self.name: found.table}, found.notes)

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return pictures of the first samples."""
        return ranked_figures(population, part)


def ranked_figures(population: Population, part: AnalysisResult) -> dict[str, Draw]:
    """Return pictures of the first samples of a ranked table; none where it is empty."""
    from cutaway.analysis.population.plotting import plot_ranked

    found = Ranked(part.tables[part.analysis], part.words, part.notes)
    return {part.analysis: lambda: plot_ranked(population, part.analysis, found)} if len(found) else {}
