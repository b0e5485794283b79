"""The loss, or the first metric, against every metadata column; the strongest first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.contract import MOST_IN_WORDS, Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import CORRECT, LOSS, SUBSET, Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener
from cutaway.wording import counted

if TYPE_CHECKING:
    from cutaway.analysis.curves import Curve
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["CurvesOfMetadata"]


@dataclass(frozen=True)
class CurveOptions:
    """What a curve can be asked with."""

    x: str | None = option(metavar="COLUMN", help="along this column.")
    y: str | None = option(metavar="COLUMN", help="of this column; by default the loss.")
    by: str | None = option(metavar="COLUMN", help="split by this column.")
    bins: int = option(10, metavar="N", least=1, help="in so many bins.")


class CurvesOfMetadata(Analysis):
    """The loss, or the first metric, against every metadata column; the strongest first."""

    name = "curve"
    options = CurveOptions
    in_report = InReport("What the loss goes with", section="explained", figures=3)

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        metrics = [name for name in samples.table.column_names if name.startswith("metric.") and samples.has(name)]
        return "" if samples.has(LOSS) or metrics else "these samples have neither a loss nor a metric"

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return a curve for each metadata column, of the samples that the model is judged by."""
        y = _outcome(population)
        population = population.judged_by(y)
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
        return AnalysisResult(
            "curve", tuple(one.words() for one in found[:MOST_IN_WORDS]), tables, tuple(map(str, unsaid))
        )

    def answer(
        self, population: Population, options: CurveOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return one curve: of the samples that the model is judged by, unless it is split by subset."""
        from cutaway.analysis.population.plotting import plot_curve

        if options.x is None:
            columns = [name for name in population.table.column_names if name.startswith("metadata.")]
            raise ConfigurationError(f"`curve` needs `--x`, a column such as {', '.join(columns[:5]) or 'label'}.")
        y = options.y or LOSS
        judged = y in population.table.column_names and _is_outcome(y) and options.by != SUBSET
        chosen = population.judged_by(y) if judged else population
        found = chosen.curve(options.x, y, bins=options.bins, by=options.by)
        return AnalysisResult(
            self.name,
            (found.words(),),
            {"curve": found.table},
            (*found.notes, *_left_out(len(population) - len(chosen))),
            title=f"{found.y} against {found.x}",
            figures={"curve": lambda: plot_curve(found)},
            shown="curve",
        )

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return a figure of each curve."""
        y = _outcome(population)
        population = population.judged_by(y)
        names = part.tables["curve"]["x"].unique().to_pylist()
        return {name: partial(_drawn, population, name, y) for name in names}


def _left_out(count: int) -> tuple[str, ...]:
    said = f"{counted(count, 'sample')} of other subsets left out; `--by subset` shows them beside these."
    return (said,) if count else ()


def _is_outcome(name: str) -> bool:
    return name in (LOSS, CORRECT) or name.startswith(("metric.", "loss."))


def _outcome(population: Population) -> str:
    columns = population.table.column_names
    return LOSS if population.samples.has(LOSS) else next(one for one in columns if one.startswith("metric."))


def _drawn(population: Population, x: str, y: str) -> Figure:
    from cutaway.analysis.population.plotting import plot_curve

    return plot_curve(population.curve(x, y))
