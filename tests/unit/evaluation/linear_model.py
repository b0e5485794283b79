"""A model without a framework: one matrix, so that every prediction can be computed by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable, LayerUnavailable
from cutaway.models import Gradient, Layer, Model, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.backend import Arrays, Question

WEIGHTS = np.random.default_rng(7).normal(size=(4, 3)).astype(np.float32)


class LinearBackend:
    """`x @ WEIGHTS`; the latent layer is twice the input. `watch` is called with each batch, and may raise."""

    def __init__(self, watch: Callable[[Array], None] | None = None, training: SavedTraining | None = None) -> None:
        self._watch = watch
        self.closed = 0
        self.batches: list[int] = []
        self.description = ModelDescription(
            "linear",
            (TensorSpec("x", (None, 4)),),
            (TensorSpec("scores", (None, 3), channel_axis=-1),),
            (Layer("twice", "Twice", (None, 4)),),
            "twice",
            training or SavedTraining(),
        )

    def predict(self, batch: Arrays) -> Arrays:
        x = batch["x"]
        self.batches.append(len(x))
        if self._watch is not None:
            self._watch(x)
        with np.errstate(all="ignore"):
            return {"scores": np.stack([row @ WEIGHTS for row in x])}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        if set(layers) != {"twice"}:
            raise LayerUnavailable(layers[0], ["twice"])
        with np.errstate(all="ignore"):
            return {"twice": 2 * batch["x"]}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        raise GradientUnavailable("Nothing to differentiate.")

    def close(self) -> None:
        self.closed += 1


def linear_model(watch: Callable[[Array], None] | None = None, training: SavedTraining | None = None) -> Model:
    """Return the model."""
    return Model(LinearBackend(watch, training))


def samples(count: int, seed: int = 0) -> tuple[Array, Array]:
    """Return inputs, and classes that the model gets right for most of them."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(count, 4)).astype(np.float32)
    y = (x @ WEIGHTS).argmax(axis=1)
    y[:: max(count // 7, 1)] = 0
    return x, y
