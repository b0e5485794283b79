"""The loss, or the first metric, against every metadata column; the strongest first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.contract import MOST_SAID, Analysis, AnalysisResult, Draw
from cutaway.analysis.samples import LOSS, Samples
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.curves import Curve
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["CurvesOfMetadata"]


class CurvesOfMetadata(Analysis):
    """The loss, or the first metric, against every metadata column; the strongest first."""

    name = "curve"

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        metrics = [name for name in samples.table.column_names if name.startswith("metric.") and samples.has(name)]
        return "" if samples.has(LOSS) or metrics else "these samples have neither a loss nor a metric"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return a curve for each metadata column."""
        y = _outcome(population)
        found: list[Curve] = []
        unsaid: list[AnalysisUnavailable] = []
        for x in population.table.column_names:
            if not x.startswith("metadata."):
                continue
            try:
                found.append(population.curve(x, y))
            except AnalysisUnavailable as error:
                unsaid.append(error)
        if not found:
            reason = unsaid[0].reason if unsaid else f"there is no metadata to set the {y} against."
            raise AnalysisUnavailable("curve", reason)
        found.sort(key=lambda one: -abs(one.strength.value) if one.strength else 0.0)
        tables = {
            "curve": pa.concat_tables(
                [one.table.append_column("x", pa.array([one.x] * one.table.num_rows)) for one in found],
                promote_options="permissive",
            )
        }
        return AnalysisResult("curve", tuple(one.words() for one in found[:MOST_SAID]), tables, tuple(map(str, unsaid)))

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return a figure of each curve."""
        y = _outcome(population)
        names = part.tables["curve"]["x"].unique().to_pylist()
        return {name: partial(_drawn, population, name, y) for name in names}


def _outcome(population: Population) -> str:
    columns = population.table.column_names
    return LOSS if population.samples.has(LOSS) else next(one for one in columns if one.startswith("metric."))


def _drawn(population: Population, x: str, y: str) -> Figure:
    from cutaway.analysis.population.plotting import plot_curve

    return plot_curve(population.curve(x, y))
