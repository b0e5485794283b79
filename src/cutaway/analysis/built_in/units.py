"""What drives each latent unit, and which classes it serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.population.applicability import no_vector
from cutaway.analysis.population.contract import Analysis, AnalysisResult, Draw
from cutaway.analysis.samples import Samples
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["UnitsOfLatents"]


class UnitsOfLatents(Analysis):
    """What drives each latent unit, and which classes it serves."""

    name = "units"
    further = ("drivers", "classes")

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_vector(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the table of units, what drives them, and their classes."""
        found = population.units(progress=progress)
        tables = {"units": found.units, "drivers": found.drivers, "classes": found.classes}
        return AnalysisResult("units", (found.words(),), tables, found.notes)

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the samples that drive each unit."""
        from cutaway.analysis.population.plotting import plot_units

        return {"units": lambda: plot_units(population, population.units())}
