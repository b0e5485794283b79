"""Where the model looked in a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from cutaway.analysis.population.applicability import no_model
from cutaway.analysis.population.contract import Analysis
from cutaway.analysis.population.names import command_name
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.heat_maps.values import HeatMap
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["HeatMapsOfSample"]


@dataclass(frozen=True)
class HeatMapOptions:
    """What heat maps can be asked with."""

    sample: tuple[str, ...] = option((), metavar="ID", help="about this sample.")
    method: str | None = option(
        metavar="NAME", help="grad_cam, layer_cam, integrated_gradients, input_gradient, occlusion, rise."
    )
    target: tuple[str, ...] = option((), metavar="CLASS", help="of this class; again for more.")
    layer: tuple[str, ...] = option((), metavar="NAME", help="by this layer.")
    baseline: str | None = option(metavar="NAME", help="what a place holds when taken away: zero, mean, blur.")
    sanity: bool = option(default=True, help="compare with random maps, which takes longer.")


class HeatMapsOfSample(Analysis):
    """Where the model looked in a sample."""

    name = "heat maps"
    options = HeatMapOptions
    asked_alone = True
    # Whether they are of the loss: what raises and lowers it.
    of_loss: ClassVar[bool] = False

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return no_model(origin)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Raise: a heat map is of one sample."""
        raise AnalysisUnavailable(self.name, "they are of one sample: ask with `heat_maps(sample)`.")

    def answer(
        self, population: Population, options: HeatMapOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return the maps of each sample, in words and pictures."""
        from cutaway.analysis.population.plotting import plot_heat_maps

        if not options.sample:
            raise ConfigurationError(f"`{command_name(self.name)}` needs `--sample`, the id of a sample.")
        found = {
            sample: population.heat_maps(
                sample,
                options.method,
                target=list(options.target) or None,
                layer=list(options.layer) or None,
                loss=self.of_loss,
                baseline=options.baseline,
                sanity=options.sanity,
                seed=seed,
                progress=progress,
            )
            for sample in options.sample
        }
        return AnalysisResult(
            self.name,
            tuple(f"{sample}: {_in_words(population, one)}" for sample, maps in found.items() for one in maps),
            {self.name: _map_table(population, found)},
            tuple(dict.fromkeys(note for maps in found.values() for one in maps for note in one.notes)),
            figures={sample: partial(plot_heat_maps, population, sample, maps) for sample, maps in found.items()},
        )


def _in_words(population: Population, one: HeatMap) -> str:
    from cutaway.analysis.heat_maps.sanity import sanity_words

    about = "loss" if one.loss is not None else f"class {_class(population, one)}"
    by = f" by {one.layer}" if one.layer else ""
    trust = "" if one.sanity is None else f" {sanity_words(one.sanity)}"
    complete = "" if one.completeness is None else f" Completeness error {one.completeness:.2%}."
    score = f"score {one.score:.4g}" if np.isfinite(one.score) else "whose score is not finite"
    return f"{one.method}{by} of {about}, {score}.{complete}{trust}"


def _class(population: Population, one: HeatMap) -> str:
    classes = population.samples.classes
    if one.target is None:
        return "as a whole"
    return classes[one.target] if one.target < len(classes) else str(one.target)


def _map_table(population: Population, found: Mapping[str, tuple[HeatMap, ...]]) -> pa.Table:
    rows = []
    for sample, maps in found.items():
        for one in maps:
            sanity = one.sanity
            rows.append(
                {
                    "sample": sample,
                    "method": one.method,
                    "class": _class(population, one) if one.loss is None else None,
                    "loss": one.loss,
                    "layer": one.layer,
                    "score": one.score,
                    "completeness": one.completeness,
                    "deletion": None if sanity is None else sanity.deletion,
                    "best_random": None if sanity is None else min(sanity.random, default=None),
                    "magnitude": None if sanity is None else sanity.magnitude,
                    "random_weights": None if sanity is None else sanity.random_weights,
                    "better_than_random": None if sanity is None else sanity.better_than_random,
                }
            )
    return pa.Table.from_pylist(rows)
