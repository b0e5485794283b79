"""The samples nearest to one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.population.applicability import too_few
from cutaway.analysis.population.contract import Analysis
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.arrays import Array, Float64Array
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["SimilarSamples"]


@dataclass(frozen=True)
class SimilarOptions:
    """What similar samples can be asked with: `where` says among which, not to which."""

    sample: tuple[str, ...] = option((), metavar="ID", help="about this sample.")
    k: int = option(20, metavar="N", flags=("-k", "--k"), least=1, help="how many.")
    region: str | None = option(metavar="X,Y,X,Y", help="to the samples in this box, or polygon, of the map.")
    input_file: str | None = option(
        metavar="FILE.npy", flags=("--input",), help="to a new input, as the encoder gives one."
    )
    where: tuple[str, ...] = option((), metavar="CONDITION", help="only samples such as 'label = 4'.")


class SimilarSamples(Analysis):
    """The samples nearest to one."""

    name = "similar"
    options = SimilarOptions
    asked_alone = True
    prepares = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return too_few(samples)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Make the index of neighbours, which whoever asks of a sample then finds."""
        population.index(progress)
        return AnalysisResult(self.name)

    def answer(
        self, population: Population, options: SimilarOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return the nearest to a sample, to several, to a region of the map, or to a new input."""
        from cutaway.analysis.population.plotting import plot_similar

        if sum((bool(options.sample), options.region is not None, options.input_file is not None)) != 1:
            raise ConfigurationError("`similar` needs one of `--sample`, `--region` and `--input` to be similar to.")
        ids: list[str] = []
        if options.input_file is not None:
            query = Path(options.input_file).name
            found = population.similar_to_input(_array(options.input_file), options.k, where=options.where)
        else:
            ids = list(options.sample) or population.in_region(_corners(str(options.region)), seed=seed).ids
            if not ids:
                raise ConfigurationError(f"No sample lies in the region {options.region!r} of the map.")
            query = ids[0] if len(ids) == 1 else f"{len(ids):,} samples"
            one = ids if len(ids) > 1 else ids[0]
            found = population.find_similar(one, options.k, where=options.where, progress=progress)
        counts = ", ".join(f"{count} x {name}" for name, count in found.counts.items())
        alike = ", ".join(f"{one['unit']} ({one['share']:.0%})" for one in found.units.slice(0, 3).to_pylist())
        words = (f"labels among them: {counts}" if counts else "", f"most alike in units {alike}" if alike else "")
        return AnalysisResult(
            self.name,
            tuple(filter(None, words)),
            {"similar": found.table, "units": found.units},
            found.notes,
            title=f"{found.table.num_rows} nearest to {query}",
            figures={"similar": lambda: plot_similar(population, ids, found, f"Similar to {query}")},
            shown="similar",
        )


def _array(file: str) -> Array:
    try:
        return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"Cannot read {file!r} as an array: {error}.", hint="Save it with `numpy.save`.", path=file
        ) from error


def _corners(text: str) -> Float64Array:
    try:
        numbers = [float(one) for one in text.replace(";", ",").split(",")]
    except ValueError:
        numbers = []
    if len(numbers) < 4 or len(numbers) % 2:
        raise ConfigurationError(f"`--region` is x,y,x,y for a box, or more corners for a polygon, but got {text!r}.")
    return np.array(numbers).reshape(-1, 2)
