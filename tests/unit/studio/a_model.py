"""A model without a framework that a binding brings: three inputs, three classes, and it knows them."""

from __future__ import annotations

from collections.abc import Sequence

from cutaway.errors import GradientUnavailable
from cutaway.models import Gradient, Layer, Model, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.backend import Arrays, Question


class _Backend:
    description = ModelDescription(
        "linear",
        (TensorSpec("x", (None, 3)),),
        (TensorSpec("kind", (None, 3), channel_axis=-1),),
        (Layer("twice", "Twice", (None, 3)),),
        "twice",
        SavedTraining(),
    )

    def predict(self, batch: Arrays) -> Arrays:
        return {"kind": 4 * batch["x"]}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        return dict.fromkeys(layers, 2 * batch["x"])

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        raise GradientUnavailable("Nothing to differentiate.")

    def close(self) -> None:
        pass


def a_model() -> Model:
    return Model(_Backend())
