"""The samples on which two models differ: flips for better and for worse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutaway.analysis.population.contract import Analysis
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.population.population import Population

__all__ = ["ComparedWithAnother"]


@dataclass(frozen=True)
class CompareOptions:
    """What is compared with."""

    other: str | None = option(
        metavar="RUN|MODEL", flags=("--with",), help="with this run or model, on the same samples."
    )


class ComparedWithAnother(Analysis):
    """The samples on which two models differ: flips for better and for worse."""

    name = "compare"
    options = CompareOptions
    asked_alone = True

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Raise: it takes another run."""
        raise AnalysisUnavailable(self.name, "it takes another run or model: ask with `comparison(other)`.")

    def answer(
        self, population: Population, options: CompareOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return the flips, the difference by slice, and where on the map they are."""
        if options.other is None:
            raise ConfigurationError("`compare` needs `--with`, another run or a model file.")
        found = population.comparison(options.other, seed=seed, progress=progress)
        tables = {"compare": found.table, "slices": found.slices}
        if found.regions is not None:
            tables["regions"] = found.regions

        def draw() -> Figure:
            from cutaway.analysis.population.plotting import plot_map

            rows = [population.row(one) for one in found.table["sample"].to_pylist()]
            return plot_map(population, population.map(seed=seed), title="Where they differ", rows=rows)

        return AnalysisResult(
            self.name,
            found.words,
            tables,
            found.notes,
            title=f"compared with {options.other}",
            figures={"map": draw},
            shown="compare",
        )
