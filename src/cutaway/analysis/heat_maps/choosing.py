"""Chooses a method for a model by its own figures: on a few samples, whose maps point at what matters most."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cutaway.analysis.heat_maps.baselines import Baseline
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.analysis.heat_maps.methods import method_named
from cutaway.analysis.heat_maps.places import named_arrays
from cutaway.analysis.heat_maps.sanity import deletion_figures
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, GradientUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.models.batches import Batch
from cutaway.models.model import Model
from cutaway.wording import counted

__all__ = ["IN_TURN", "MethodChoice", "choose_method"]

IN_TURN = ("grad_cam", "integrated_gradients", "input_gradient", "occlusion")
"""What may be chosen: each needs less of the model than the one before."""
# It costs a hundred predictions a sample and more: only where nothing else applies.
LAST = "occlusion"
# A map that points at nothing leaves the score as it is.
POINTS_AT_NOTHING = 1.0
# Of a slow model fewer samples are asked: so many at first, and more until this many seconds are over.
FIRST, SECONDS = 2, 8.0


@dataclass(frozen=True)
class MethodChoice:
    """The method that is taken, the figure of each that was compared, and why others do not apply.

    A figure is the mean deletion AUC over `samples` samples: less is better. There is none where only one applies.
    """

    method: str
    samples: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Say what was chosen and why.

        >>> MethodChoice("input_gradient", 12, {"input_gradient": 0.21, "grad_cam": 0.446}).words
        'input_gradient was chosen: on 12 samples it does 0.21, grad_cam 0.45; less is better.'
        """
        own = f"{self.method} was chosen"
        others = [f"{name} {figure:.2f}" for name, figure in self.figures.items() if name != self.method]
        if others:
            own += f": on {counted(self.samples, 'sample')} it does {self.figures[self.method]:.2f}, "
            own += f"{', '.join(others)}; less is better"
        return " ".join([f"{own}.", *self.reasons])


def choose_method(
    model: Model,
    batch: Batch,
    *,
    output: str | None = None,
    loss: str | None = None,
    labels: Array | None = None,
    baseline: Baseline | None = None,
    seed: int = 0,
    progress: Listener | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> MethodChoice:
    """Return the method whose maps of these samples do best, of those that apply to a model.

    Raises `AnalysisUnavailable` with all reasons where none does.
    """
    arrays = named_arrays(model, batch)
    count, until = len(next(iter(arrays.values()))), clock() + SECONDS
    compared: dict[str, list[float]] = {}
    reasons: list[str] = []
    ask = partial(_figures, model, output=output, loss=loss, baseline=baseline, seed=seed, progress=progress)
    first = _rows(arrays, labels, 0, FIRST)
    for name in IN_TURN:
        if (baseline is not None and not method_named(name).baseline) or (name == LAST and compared):
            continue
        try:
            compared[name] = ask(name, *first)
        except (AnalysisUnavailable, GradientUnavailable) as error:
            reasons.append(str(error))
    if not compared:
        raise AnalysisUnavailable("heat map", " ".join(reasons))
    if len(compared) == 1:
        return MethodChoice(next(iter(compared)), reasons=tuple(reasons))
    done = FIRST
    while done < count and clock() < until:
        more = _rows(arrays, labels, done, 2 * done)
        for name, figures in compared.items():
            figures.extend(ask(name, *more))
        done *= 2
    means = {name: float(np.mean(figures)) for name, figures in compared.items()}
    best = min(means, key=lambda name: means[name])
    return MethodChoice(best, len(compared[best]), means, tuple(reasons))


def _rows(
    arrays: dict[str, Array], labels: Array | None, start: int, stop: int
) -> tuple[dict[str, Array], Array | None]:
    return {name: values[start:stop] for name, values in arrays.items()}, None if labels is None else labels[start:stop]


def _figures(
    model: Model,
    method: str,
    batch: dict[str, Array],
    labels: Array | None,
    *,
    output: str | None,
    loss: str | None,
    baseline: Baseline | None,
    seed: int,
    progress: Listener | None,
) -> list[float]:
    """Return the deletion AUC of the map of each sample by a method."""
    maps = heat_map(
        model,
        batch,
        method=method,
        output=output,
        loss=loss,
        labels=labels,
        baseline=baseline,
        seed=seed,
        progress=progress,
    )
    found = deletion_figures(model, batch, maps, seed=seed, baseline=baseline, labels=labels, progress=progress)
    return [float(one) for one in np.nan_to_num(found, nan=POINTS_AT_NOTHING)]
