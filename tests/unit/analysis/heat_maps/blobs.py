"""A model in numpy whose maps can be worked out by hand, of any layout, with and without gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable
from cutaway.models.backend import Arrays, Gradient, Question
from cutaway.models.description import Layer, ModelDescription, TensorSpec
from cutaway.models.model import Model


class Weighing:
    """Two classes of images: the sum of the input times weights of each place, and twice that less one.

    The layer `doubled` is the input times two; the layer `flat` has no places.
    """

    def __init__(self, weights: Array, *, batch_size: int | None = None, differentiable: str = "") -> None:
        self.weights = weights
        self.sizes: list[int] = []
        shape = (batch_size, *weights.shape)
        self.description = ModelDescription(
            "toy",
            (TensorSpec("image", shape, "float32", -1),),
            (TensorSpec("scores", (batch_size, 2), "float32", 1),),
            (Layer("doubled", "Conv", shape, -1), Layer("flat", "Dense", (batch_size, 2))),
            differentiable=differentiable,
        )

    def predict(self, batch: Arrays) -> Arrays:
        self.sizes.append(len(batch["image"]))
        sums = (batch["image"] * self.weights).reshape(len(batch["image"]), -1).sum(axis=1)
        return {"scores": np.stack([sums, 2 * sums - 1], axis=1).astype(np.float32)}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        known = {"doubled": 2 * batch["image"], "flat": self.predict(batch)["scores"]}
        return {name: known[name] for name in layers}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        self.sizes.append(len(batch["image"]))
        target = self.predict(batch)["scores"].argmax(1) if question.target is None else question.target
        factor = (1.0 + target).reshape(-1, *[1] * self.weights.ndim)
        if question.wrt == "image":
            return Gradient((factor * self.weights).astype(np.float32), np.array(batch["image"]))
        if question.wrt == "doubled":
            return Gradient((factor * self.weights / 2).astype(np.float32), 2 * batch["image"])
        raise GradientUnavailable("no gradient by that layer.")

    def close(self) -> None:
        """Nothing to let go of."""


WEIGHTS = np.random.default_rng(0).normal(size=(6, 5, 3)).astype(np.float32)
IMAGES = np.random.default_rng(1).random((4, 6, 5, 3)).astype(np.float32)


def weighing(*, batch_size: int | None = None, differentiable: str = "") -> Model:
    return Model(Weighing(WEIGHTS, batch_size=batch_size, differentiable=differentiable))
