"""Chooses a method for a model by its own figures: on a few samples, whose maps point at what matters most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cutaway.analysis.heat_maps.baselines import Baseline
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.analysis.heat_maps.methods import method_named
from cutaway.analysis.heat_maps.sanity import deletion_figures
from cutaway.analysis.heat_maps.values import HeatMap
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
) -> MethodChoice:
    """Return the method whose maps of these samples do best, of those that apply to a model.

    Raises `AnalysisUnavailable` with all reasons where none does.
    """
    made: dict[str, tuple[HeatMap, ...]] = {}
    reasons: list[str] = []
    for name in IN_TURN:
        if (baseline is not None and not method_named(name).baseline) or (name == LAST and made):
            continue
        try:
            made[name] = heat_map(
                model,
                batch,
                method=name,
                output=output,
                loss=loss,
                labels=labels,
                baseline=baseline,
                seed=seed,
                progress=progress,
            )
        except (AnalysisUnavailable, GradientUnavailable) as error:
            reasons.append(str(error))
    if not made:
        raise AnalysisUnavailable("heat map", " ".join(reasons))
    if len(made) == 1:
        return MethodChoice(next(iter(made)), reasons=tuple(reasons))
    figures = {}
    for name, maps in made.items():
        # The same classes for all, as each map names its own.
        found = deletion_figures(model, batch, maps, seed=seed, baseline=baseline, labels=labels, progress=progress)
        figures[name] = float(np.nan_to_num(found, nan=POINTS_AT_NOTHING).mean())
    best = min(figures, key=lambda name: figures[name])
    return MethodChoice(best, len(made[best]), figures, tuple(reasons))
