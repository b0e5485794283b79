"""Draws one small picture a sample, with the first visualizer that is bound or one that the first sample suggests.

A picture that cannot be drawn is left out: it never costs a sample its row.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cutaway.dataset import Dataset
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.default_visualizers import guess_visualizer
from cutaway.dataset.functions import Visualizer
from cutaway.dataset.subset import Array, Subset
from cutaway.evaluation.scoring import Bound, Values
from cutaway.evaluation.wiring import Wiring

__all__ = ["Drawing", "choose_drawing"]

log = logging.getLogger("cutaway.evaluation")

# Guessed for what nothing else suits: a picture of printed numbers says nothing beside the row itself.
NOT_DRAWN = frozenset(("RawData",))


@dataclass
class Drawing:
    """A visualizer and what it is given. `said` is the first reason why a picture could not be drawn."""

    bound: Bound
    said: str = field(default="")

    @property
    def needs_predictions(self) -> bool:
        """Whether it can only be drawn when the model has answered."""
        return any(source.startswith("prediction.") for source in self.bound.needs)

    def draw(self, arrays: Mapping[str, Array], subset: Subset, indices: Sequence[int]) -> list[bytes | None]:
        """Return one PNG a sample; None where it cannot be drawn, or where the batch lacks what it needs."""
        if not self.bound.needs <= arrays.keys():
            return [None] * len(indices)
        values = Values({name: arrays[name] for name in self.bound.needs}, subset, indices)
        return [self._one(values, row) for row in range(len(indices))]

    def _one(self, values: Values, row: int) -> bytes | None:
        from cutaway.dataset.rendering import preview_png

        function = self.bound.function
        arguments = {name: values.arrays[source][row] for name, source in self.bound.arguments.items()}
        try:
            # Somebody's visualizer by name; what it returns is drawn in the same breath, since both may be wrong.
            return bytes(
                call_theirs(lambda: preview_png(function.function(**arguments, **_asked(function, values, row))))
            )
        except Failed as failure:
            if not self.said:
                self.said = f"{failure.place}: visualizer {function.name!r}: {failure.reason}"
                log.warning("A preview could not be drawn: %s", self.said)
            return None


def choose_drawing(dataset: Dataset, wiring: Wiring, first: Mapping[str, Array]) -> Drawing | None:
    """Return the first visualizer, or one that suits the first sample's inputs; None where there is none."""
    if dataset.visualizers:
        one = dataset.visualizers[0]
        return Drawing(Bound("visualizer", one, wiring.functions[f"visualizer.{one.name}"]))
    for declared in dataset.inputs:
        guessed = guess_visualizer(declared, first[declared.name])
        if guessed.name not in NOT_DRAWN:
            return Drawing(Bound("visualizer", guessed, {guessed.arguments[0]: f"input.{declared.name}"}))
    return None


def _asked(function: Visualizer | object, values: Values, row: int) -> dict[str, object]:
    injected = getattr(function, "injected", None)
    return {} if injected is None else {injected: values.only(row).samples()}
