"""What a model in a child process is asked, as requests: the calls of a `Backend`, without the process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from cutaway.arrays import Array
from cutaway.models.backend import Arrays, Gradient, Question
from cutaway.models.crossing import question_to
from cutaway.models.description import ModelDescription

__all__ = ["ChildCalls"]


class ChildCalls(ABC):
    """The calls of a `Backend`, each as one request; who inherits from it knows which process answers."""

    description: ModelDescription

    @abstractmethod
    def ask(
        self, request: dict[str, Any], batch: Arrays, wanted: list[str], what: str, question: Arrays | None = None
    ) -> dict[str, Array]:
        """Ask the process one thing, with the arrays of a batch and of a question, and return the wanted ones."""

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output, by name."""
        return self.ask({"do": "predict"}, batch, [spec.name for spec in self.description.outputs], "predict")

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the outputs of some layers, by name."""
        wanted = list(dict.fromkeys(layers))
        return self.ask({"do": "activations", "layers": wanted}, batch, wanted, "give its layers' values")

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output, and the outputs of some layers, from one question."""
        outputs, wanted = [spec.name for spec in self.description.outputs], list(dict.fromkeys(layers))
        names = [*(f"output/{name}" for name in outputs), *(f"layer/{name}" for name in wanted)]
        found = self.ask({"do": "predict_with", "layers": wanted}, batch, names, "predict")
        return {name: found[f"output/{name}"] for name in outputs}, {name: found[f"layer/{name}"] for name in wanted}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Return the gradient that was asked for."""
        plain, arrays = question_to(question)
        wanted = ["gradient", "activation"]
        answer = self.ask({"do": "gradient", "question": plain}, batch, wanted, "give a gradient", arrays)
        return Gradient(answer["gradient"], answer["activation"])

    def gradient_with_output(self, batch: Arrays, question: Question) -> tuple[Gradient, Array]:
        """Return the gradient and the output that it was taken of, from one question."""
        plain, arrays = question_to(question)
        wanted = ["gradient", "activation", "output"]
        answer = self.ask({"do": "gradient_with_output", "question": plain}, batch, wanted, "give a gradient", arrays)
        return Gradient(answer["gradient"], answer["activation"]), answer["output"]
