"""What a format has to offer so that `Model` can be made of it. `cutaway.testing.models` tests this contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cutaway.arrays import Array, Int64Array
from cutaway.models.description import ModelDescription

__all__ = ["LOSSES", "Arrays", "Backend", "Gradient", "Question"]

Arrays = Mapping[str, Array]

# The losses that `gradient` knows by name; their formulas are those of `cutaway.dataset.losses`, summed over samples.
LOSSES = (
    "MeanSquaredError",
    "MeanAbsoluteError",
    "CategoricalCrossentropy",
    "CategoricalCrossentropyFromLogits",
    "BinaryCrossentropy",
    "BinaryCrossentropyFromLogits",
)


@dataclass(frozen=True)
class Question:
    """What is differentiated, and by what.

    The scalar of sample i is `output[i]` taken at `target[i]` on the class axis and summed over the other axes; or,
    where `loss` is named, that loss of `output[i]` and `labels[i]`. `target` None means the class with the largest
    such sum. An output without a class axis, or with one class, is summed whole. `wrt` is the name of an input or of
    a layer.
    """

    output: str
    wrt: str
    target: Int64Array | None = None
    loss: str | None = None
    labels: Array | None = None


class Gradient(NamedTuple):
    """The gradient of each sample's scalar, and the value at which it was taken; both of the shape of `wrt`."""

    gradient: Array
    activation: Array


class Backend(Protocol):
    """A model of one format.

    - Batches come as one array for each input, by its name, already of the declared dtype and axes; what comes back is
      in the model's own axes, in memory of its own that later calls do not overwrite.
    - Rows are independent: a sample's answer does not depend on the others of its batch, nor on earlier calls. Layers
      that behave otherwise in training (dropout, batch normalisation) behave as in prediction.
    - `predict` answers every output; `activations` the named layers; a layer that is not there raises
      `LayerUnavailable`.
    - A backend that can answer outputs and layers from one pass has `predict_with(batch, layers) -> (outputs, layers)`
      too; `Model` asks twice where it has not. So has one that can answer a gradient together with the output that it
      was taken of: `gradient_with_output(batch, question) -> (Gradient, values of that output)`.
    - `gradient` leaves nothing behind: no accumulated gradients, no changed mode.
    - A backend that can has `with_random_weights(seed) -> Backend` too: the same architecture and description with
      weights drawn anew by the seed, best by `cutaway.models.random_weights`. The two answer independently, and the
      one that was asked stays as it is; `AnalysisUnavailable` says why there can be none.
    - `close` can be called twice.
    """

    @property
    def description(self) -> ModelDescription:
        """What the model says of itself; the same value at every call."""

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output, by name."""

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the outputs of some layers, by name."""

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Return the gradient that was asked for; raises `GradientUnavailable` where there is none."""

    def close(self) -> None:
        """Let go of what the model holds."""
