"""What drives each latent unit, and which classes it serves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.applicability import no_vector
from cutaway.analysis.population.contract import Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.analysis.units import Units
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["UnitsOfLatents"]


@dataclass(frozen=True)
class UnitOptions:
    """What units can be asked with."""

    sample: tuple[str, ...] = option((), metavar="ID", help="about this sample.")
    top: int = option(10, metavar="N", least=1, help="so many samples and classes of each.")


class UnitsOfLatents(Analysis):
    """What drives each latent unit, and which classes it serves."""

    name = "units"
    options = UnitOptions
    in_report = InReport("What single units answer to", section="explained", figures=0)
    further = ("drivers", "classes")

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_vector(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the table of units, what drives them, and their classes."""
        return self._part(population.units(progress=progress))

    def answer(
        self, population: Population, options: UnitOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return all units, or those behind the answer for single samples."""
        from cutaway.analysis.population.plotting import plot_units

        if not options.sample:
            found = population.units(top=options.top, progress=progress)
            return replace(self._part(found), figures={"units": lambda: plot_units(population, found)}, shown="units")
        of = [population.units_of(one, top=options.top) for one in options.sample]
        tables = [one.table.append_column("sample", pa.array([one.sample] * one.table.num_rows)) for one in of]
        return AnalysisResult(
            self.name,
            tuple(f"{one.sample}: {one.words()}" for one in of),
            {"units": pa.concat_tables(tables)},
            of[0].notes,
            title="units behind the answer",
            shown="units",
        )

    def _part(self, found: Units) -> AnalysisResult:
        tables = {"units": found.units, "drivers": found.drivers, "classes": found.classes}
        return AnalysisResult(self.name, (found.words(),), tables, found.notes)

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the samples that drive each unit."""
        from cutaway.analysis.population.plotting import plot_units

        return {"units": lambda: plot_units(population, population.units())}
