"""What in a sample raises and lowers the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.analysis.built_in.heat_maps import HeatMapsOfSample
from cutaway.analysis.population.applicability import no_model
from cutaway.analysis.samples import Samples

if TYPE_CHECKING:
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["LossHeatMapsOfSample"]


class LossHeatMapsOfSample(HeatMapsOfSample):
    """What in a sample raises and lowers the loss."""

    name = "loss heat maps"
    of_loss = True

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        if origin is None:
            return no_model(origin)
        return "" if origin.answer.truth is not None else "no prediction is compared with a ground truth"
