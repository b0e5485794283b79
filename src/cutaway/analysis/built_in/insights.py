"""What is systematically wrong, the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.contract import MOST_IN_WORDS, Analysis, InReport
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener
from cutaway.run.evaluated.kept import is_ranked

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["InsightsOfAll"]


# No more insights than this are ever told.
MOST_INSIGHTS = 10_000
COLUMNS = {
    **dict.fromkeys(("kind", "where", "subset", "measure", "action", "buys", "also"), pa.string()),
    **dict.fromkeys(("inside_of", "outside_of"), pa.string()),
    "is_share": pa.bool_(),
    "count": pa.int64(),
    "share": pa.float64(),
}


class InsightsOfAll(Analysis):
    """What is systematically wrong, the gravest first."""

    name = "insights"
    in_report = InReport(section="insights", cards=1)
    kept_by_population = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return "" if len(samples) > 1 else f"it takes two samples, and there are {len(samples)}"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return all insights; of many, the first in words."""
        found = population.ranked_insights(seed=seed, progress=progress)
        words = list(found.words[:MOST_IN_WORDS])
        if len(found) > MOST_IN_WORDS:
            words.append(f"and {len(found) - MOST_IN_WORDS} more in the table")
        return AnalysisResult(
            "insights", tuple(words or ["nothing is systematically wrong"]), {"insights": found.table}, found.notes
        )

    def answer(self, population: Population, options: object, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return each insight with what to do about it, so that the list is one of things to do."""
        found = population.ranked_insights(seed=seed, progress=progress)
        words: list[str] = []
        for row in found.table.to_pylist():
            words += [row["reason"], f"  {row['action']} {row['buys']}".rstrip()]
        nothing = ("Nothing is systematically wrong, as far as these samples tell.",)
        return AnalysisResult(self.name, tuple(words) or nothing, {self.name: found.table}, found.notes)

    def is_own(self, table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
        """Whether a kept table holds insights; several may be shown by one sample."""
        return bool(table.num_rows <= MOST_INSIGHTS) and is_ranked(table, COLUMNS, ids, classes, once=False)
