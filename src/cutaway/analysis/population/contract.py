"""`Analysis`: one question about the samples of a population, and all that is asked of it elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from cutaway.analysis.population.kept import kept_or_made
from cutaway.analysis.population.options import NoOptions
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.run.evaluated.kept import is_ranked

if TYPE_CHECKING:
    from cutaway.analysis.population.candidates import Candidates
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["MOST_IN_WORDS", "Analysis", "InReport", "RankedAnalysis", "ranked_figures"]

# Of many clusters, curves or insights, so many are put into words; the tables have all.
MOST_IN_WORDS = 8


@dataclass(frozen=True)
class InReport:
    """How a report shows an analysis: under which title, in which of its sections, with how many of its figures.

    `section` is one of the report's, several analyses may share one. Where `cards` is a number, the rows of its table
    are samples, shown as pictures in a section of its own: 1 fills the room that there is, 2 half of it. `tables=False`
    leaves out tables with a row for each sample, which are read as files.
    """

    title: str = ""
    section: str = "further"
    figures: int = 1
    cards: int = 0
    tables: bool = True


class Analysis(ABC):
    """One analysis. A subclass gives its name and `make`; the rest where the defaults do not fit.

    Importing its file must be quick, since lists of analyses are shown where none is made: import what computes and
    what draws inside the methods.
    """

    # In words, small, with spaces; commands have a hyphen for a space, files an underscore.
    name: ClassVar[str]
    # A frozen dataclass whose fields are made by `option(...)`.
    options: ClassVar[type] = NoOptions
    in_report: ClassVar[InReport] = InReport()
    # The tables that its part has beside its own, which is called as the analysis is.
    further: ClassVar[tuple[str, ...]] = ()
    # Whether the population keeps its answer, whoever asks; otherwise the tables of the part are kept.
    kept_by_population: ClassVar[bool] = False
    # Whether it is made only where it is asked for: it takes a sample, or another run.
    asked_alone: ClassVar[bool] = False
    # Whether a job can make ready what is then asked of single samples.
    prepares: ClassVar[bool] = False

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples, without computing anything; empty where it does."""
        return ""

    @abstractmethod
    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the part, or raise `AnalysisUnavailable` with what is known only when it is asked."""

    def answer(self, population: Population, options: Any, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return what `cutaway analyze RUN NAME` shows, `options` being of the declared class.

        Unless it says more when it is asked alone, that is the part with the first rows of its table.
        """
        reason = self.why_not(population.samples, population.origin)
        if reason:
            raise AnalysisUnavailable(self.name, f"{reason}.")
        part = kept_or_made(population, self, seed, progress)
        return replace(
            part,
            shown=self.name if self.name in part.tables else None,
            figures=self.figures(population, part, seed),
        )

    def settings(self, population: Population, seed: int, progress: Listener | None) -> dict[str, Any]:
        """Return what the kept tables depend on beside the samples."""
        return {"seed": seed}

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return what can be drawn of a part, also of one that was read from the run; drawn when it is called."""
        return {}

    def is_own(self, table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
        """Whether a kept table is one that it makes of these samples, and nobody else's under its name."""
        return True


class RankedAnalysis(Analysis):
    """An analysis that ranks samples. `Population.ranked` asks it, and a run keeps the table."""

    kept_by_population = True
    in_report = InReport(cards=2, figures=0)
    # What whoever reads its table counts on beside `sample`, `score` and `reason`.
    columns: ClassVar[Mapping[str, pa.DataType]] = {}

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

    def is_own(self, table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
        """Whether a kept table has its columns and names each of these samples once at most."""
        return is_ranked(table, self.columns, ids, classes)


def ranked_figures(population: Population, part: AnalysisResult) -> dict[str, Draw]:
    """Return pictures of the first samples of a ranked table; none where it is empty."""
    from cutaway.analysis.population.plotting import plot_ranked

    found = Ranked(part.tables[part.analysis], part.words, part.notes)
    title = part.title or part.analysis
    return {part.analysis: lambda: plot_ranked(population, title, found)} if len(found) else {}
