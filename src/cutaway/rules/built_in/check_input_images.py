"""CheckInputImages: images whose channels are not centred."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Float64Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import Number, Pattern, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, lacking, saved_places, value_at
from cutaway.tensors.reader import TensorReader

__all__ = ["CheckInputImages"]


# A batch of images: samples, channels and two axes of pixels.
_AXES = 4
_INPUT = re.compile(r"_input_\d+$")


class _Pixels(NamedTuple):
    """The images of one step: how many there are, and the sum and number of each channel's pixels."""

    step: int
    images: float
    sums: Float64Array
    pixels: float


class _Totals:
    """What was seen of one tensor so far; `shape` is that of one image."""

    def __init__(self, shape: tuple[int, ...], channel: int) -> None:
        self.shape = shape
        self.images = 0.0
        self.sums: Float64Array = np.zeros(shape[channel - 1])
        self.pixels = 0.0

    def add(self, own: _Pixels) -> tuple[float, Float64Array]:
        """Return how many images there were up to a step, and the mean of each channel."""
        self.images += own.images
        self.pixels += own.pixels
        self.sums = self.sums + own.sums
        return self.images, self.sums / max(self.pixels, 1.0)


@dataclass(eq=False, repr=False, kw_only=True)
class CheckInputImages(Rule):
    """The images that the model is fed are not centred around zero.

    What it sees:
        Over at least `threshold_samples` images the mean of a channel is further from 0 than `threshold_mean`. Only
        inputs with four axes or more are images.

    Why it matters:
        The first layer's gradients all carry the sign of such a mean: its weights move together, and training is
        slower or needs a smaller learning rate. Pixels from 0 to 255 that were never scaled are the worst case.

    What to try:
        Subtract the mean of each channel over the training set and divide by its standard deviation, in training and
        in evaluation alike; or put a normalisation layer first, and the rule aside.

    Needs:
        The collection `inputs`: images are recognised by the model's inputs in full. Those with one channel are then
        judged by the statistics of every step, others at the steps that were saved in full.

    Parameters:
        threshold_mean: how far the mean of a channel may be from 0.
        threshold_samples: how many images are gathered before the rule looks.
        regex: finds the tensors to look at; by default the model's own inputs in the collection `inputs`.
        channel: the axis of the channels.
    """

    threshold_mean: Number = Number(0.2, least=0)
    threshold_samples: Whole = Whole(500, least=1)
    regex: Pattern = Pattern()
    channel: Whole = Whole(1, least=1)

    def reset(self) -> None:
        """Forget the images seen."""
        self._totals: dict[str, _Totals] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Gather the pixels of every channel and look at their means after each step."""
        names = _model_inputs(reader) if self.regex is None else list(reader.tensor_names(regex=self.regex))
        steps = reader.step_window(start, stop)["step"]
        saved: list[int] = steps[saved_places(reader, steps)].tolist()
        begins = {name: found for name in names if (found := self._first_image(reader, name, start, saved))}
        if not begins and not self._totals:
            raise self._refusal(reader, names, saved)
        for name, (first, shape) in begins.items():
            totals = self._totals.setdefault(name, _Totals(shape, self.channel))
            if len(totals.sums) == 1:
                seen = _from_statistics(reader, name, totals.shape, first, stop)
            else:
                seen = [own for step in saved if (own := _from_values(reader, name, step, totals.shape, self.channel))]
            if seen:
                yield self._judgement(name, [own.step for own in seen], [totals.add(own) for own in seen])

    def _refusal(
        self, reader: TensorReader, names: list[str], saved: list[int]
    ) -> InsufficientInformationForRuleInvocation:
        if any(value_at(reader, name, step) is not None for name in names for step in saved):
            return InsufficientInformationForRuleInvocation(
                f"needs inputs that are images, with {_AXES} axes; {', '.join(names)} held none so far.",
                hint="Choose others with `regex`.",
            )
        return lacking(reader, [] if self.regex else ["inputs"], self.regex, full=True)

    def _first_image(
        self, reader: TensorReader, name: str, start: int, saved: list[int]
    ) -> tuple[int, tuple[int, ...]] | None:
        """Return the step from which on a tensor counts in this window, and the shape of an image in it."""
        if name in self._totals:
            return start, self._totals[name].shape
        for step in saved:
            value = value_at(reader, name, step)
            if value is not None:
                return (step, value.shape[1:]) if value.ndim >= max(_AXES, self.channel + 1) else None
        return None

    def _judgement(self, name: str, steps: list[int], means: list[tuple[float, Float64Array]]) -> Judgement:
        worst = [int(np.abs(mean).argmax()) for _, mean in means]
        value = np.array([mean[place] for (_, mean), place in zip(means, worst, strict=True)])
        enough = np.array([images >= self.threshold_samples for images, _ in means])

        def message(i: int) -> str:
            images, mean = means[i]
            which = f"channel {worst[i]} of {len(mean)}" if len(mean) > 1 else "the only channel"
            return (
                f"The images in {name} are not centred: over {images:.0f} images up to step {steps[i]} the mean of "
                f"{which} is {value[i]:.3g}, further from 0 than {self.threshold_mean:g}."
            )

        def evidence(i: int) -> dict[str, Any]:
            return {"channel": worst[i], "means": means[i][1][:20].tolist(), "images": round(means[i][0])}

        fires = enough & (np.abs(value) > self.threshold_mean)
        return Judgement.of_one(name, steps, fires, value, self.threshold_mean, message, evidence)


def _model_inputs(reader: TensorReader) -> list[str]:
    """Return what the model itself receives: its inputs and its weights begin with the name of its class."""
    inputs = in_collection(reader, "inputs")
    parameters = [*in_collection(reader, "weights"), *in_collection(reader, "biases")]
    own = [name for name in inputs if any(one.startswith(f"{_INPUT.sub('', name)}_") for one in parameters)]
    return own or (inputs if len(inputs) == 1 else [])


def _from_statistics(reader: TensorReader, name: str, shape: tuple[int, ...], first: int, stop: int) -> list[_Pixels]:
    """Return the pixels of images with one channel: their number and mean suffice."""
    found = []
    for block in reader.statistics_blocks([name], first, stop):
        pixels = block.finite[0]
        sums, images = block["mean"][0] * pixels, block["size"][0] / max(np.prod(shape), 1)
        rows = zip(block.steps.tolist(), images.tolist(), sums.tolist(), pixels.tolist(), strict=True)
        found += [_Pixels(step, count, np.array([total]), number) for step, count, total, number in rows if number]
    return found


def _from_values(reader: TensorReader, name: str, step: int, shape: tuple[int, ...], channel: int) -> _Pixels | None:
    """Return the pixels of a step; None where it was not saved, or is of another shape than the first."""
    value = value_at(reader, name, step)
    if value is None or len(value) == 0 or value.shape[channel] != shape[channel - 1]:
        return None
    axes = tuple(axis for axis in range(value.ndim) if axis != channel)
    sums = np.nan_to_num(value.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0).sum(axis=axes)
    return _Pixels(step, float(len(value)), sums, value.size / len(sums))
