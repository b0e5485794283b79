"""Draws one small picture a sample, with the bound visualizer that shows it best or one that the first sample suggests.

A picture that cannot be drawn is left out: it never costs a sample its row.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.default_visualizers import guess_visualizer
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.functions import Visualizer
from cutaway.dataset.subset import Subset
from cutaway.evaluation.scoring import Bound, Values
from cutaway.evaluation.thumbnails import LONGEST, thumbnails
from cutaway.evaluation.wiring import Wiring

__all__ = ["Drawing", "choose_drawing"]

log = logging.getLogger("cutaway.evaluation")

# Guessed for what nothing else suits: a picture of printed numbers says nothing beside the row itself.
NOT_DRAWN = frozenset(("RawData",))
# Charts of so many samples take about ten seconds of a core.
MOST_CHARTS = 20_000
IMAGES = (LeapDataType.Image, LeapDataType.ImageMask, LeapDataType.ImageWithBBox, LeapDataType.ImageWithHeatmap)


@dataclass(frozen=True)
class Images:
    """An input that holds images, of which a whole batch is drawn at once; `channels_first` says how they lie."""

    channels_first: bool

    def draw(self, batch: Array) -> list[bytes] | None:
        """Return one PNG an image; None for what is better drawn one by one."""
        if batch.dtype.kind not in "fu" or (batch.dtype.kind == "u" and batch.dtype != np.uint8):
            return None
        first = self.channels_first and batch.ndim == 4
        pixels = batch[..., np.newaxis] if batch.ndim == 3 else batch
        if pixels.ndim != 4 or pixels.shape[1 if first else -1] not in (1, 3) or max(pixels.shape[1:]) > LONGEST:
            return None
        return thumbnails(pixels, channels_first=first)


@dataclass
class Drawing:
    """A visualizer and what it is given. `said` is the first reason why a picture could not be drawn."""

    bound: Bound
    images: Images | None = None
    said: str = ""

    @property
    def needs_predictions(self) -> bool:
        """Whether it can only be drawn when the model has answered."""
        return any(source.startswith("prediction.") for source in self.bound.needs)

    def draw(self, arrays: Mapping[str, Array], subset: Subset, indices: Sequence[int]) -> list[bytes | None]:
        """Return one PNG a sample; None where it cannot be drawn, or where the batch lacks what it needs."""
        if not self.bound.needs <= arrays.keys():
            return [None] * len(indices)
        if self.images is not None:
            pictures = self.images.draw(arrays[next(iter(self.bound.needs))])
            if pictures is not None:
                return list(pictures)
        values = Values({name: arrays[name] for name in self.bound.needs}, subset, indices)
        return [self._draw_row(values, row) for row in range(len(indices))]

    def _draw_row(self, values: Values, row: int) -> bytes | None:
        from cutaway.dataset.rendering import preview_png

        function = self.bound.function
        arguments = {name: values.arrays[source][row] for name, source in self.bound.arguments.items()}
        try:
            # Somebody's visualizer by name; what it returns is drawn in the same breath, since both may be wrong.
            return bytes(
                call_theirs(
                    lambda: preview_png(function.function(**arguments, **_injected_arguments(function, values, row)))
                )
            )
        except Failed as failure:
            if not self.said:
                self.said = f"{failure.place}: visualizer {function.name!r}: {failure.reason}"
                log.warning("A preview could not be drawn: %s", self.said)
            return None


def choose_drawing(
    dataset: Dataset, wiring: Wiring, first: Mapping[str, Array], count: int
) -> tuple[Drawing | None, str]:
    """Return the visualizer that shows a sample best, or one that suits the inputs; where there is none, in words why.

    `count` is how many samples there are: what is neither an image nor bound takes too long to draw for very many.
    """
    bound = [
        Bound("visualizer", one, wiring.functions[f"visualizer.{one.name}"])
        for one in dataset.visualizers
        if f"visualizer.{one.name}" in wiring.functions
    ]
    if bound:
        return min(map(Drawing, bound), key=_rank), ""
    guesses = [(one, guess_visualizer(one, first[one.name])) for one in dataset.inputs]
    guesses = [pair for pair in guesses if pair[1].name not in NOT_DRAWN]
    # An image says more than a chart, whatever their order.
    for field_, guessed in sorted(guesses, key=lambda pair: pair[1].visualizer_type is not LeapDataType.Image):
        is_image = guessed.visualizer_type is LeapDataType.Image
        if not is_image and count > MOST_CHARTS:
            words = f"{guessed.name} would be drawn of {count:,} samples, and that takes long"
            return None, f"No previews: {words}. Bind a visualizer to have them all the same."
        suited = Bound("visualizer", guessed, {guessed.arguments[0]: f"input.{field_.name}"})
        return Drawing(suited, Images(field_.channel_dim in (0, 1)) if is_image else None), ""
    return None, "No previews: no visualizer is bound, and the inputs suggest none."


def _rank(drawing: Drawing) -> tuple[bool, bool, bool]:
    """Put images before charts, and a sample before what a model made of it; the first that was bound before others.

    What the integration test never calls comes last: what it takes is a guess.
    """
    visualizer = drawing.bound.function
    assert isinstance(visualizer, Visualizer)
    return visualizer.uncalled, visualizer.visualizer_type not in IMAGES, drawing.needs_predictions


def _injected_arguments(function: Visualizer | object, values: Values, row: int) -> dict[str, object]:
    injected = getattr(function, "injected", None)
    return {} if injected is None else {injected: values.only(row).samples()}
