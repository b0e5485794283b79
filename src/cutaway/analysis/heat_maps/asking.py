"""What the methods are asked, and the ways in which they ask a model: its answers and gradients in bounded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.analysis.heat_maps.aims import Aim
from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.arrays import Array, Float32Array, Float64Array, Int64Array
from cutaway.evaluation.progress import Listener
from cutaway.models.model import Model

__all__ = [
    "Answered",
    "Found",
    "HeatMapQuestion",
    "Options",
    "blocks",
    "changed_scores",
    "differentiate",
    "packs",
    "predict",
    "spread",
]


@dataclass(frozen=True)
class Options:
    """What only some methods take."""

    layer: str | None = None
    steps: int = 50
    window: int | tuple[int, ...] | None = None
    stride: int | tuple[int, ...] | None = None
    masks: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class HeatMapQuestion:
    """One question: a model, a batch as it was given, the input that is explained, and what of the answer.

    `rows` is how many rows the model may get at once. `baseline` is there for the methods that take places away.
    """

    model: Model
    arrays: dict[str, Array]
    axes: InputAxes
    aim: Aim
    options: Options
    rows: int
    baseline: Array | None = None
    progress: Listener | None = None

    @property
    def values(self) -> Array:
        """The batch of the input that is explained."""
        return self.arrays[self.axes.name]

    @property
    def count(self) -> int:
        """How many samples there are."""
        return len(self.values)

    @property
    def removed(self) -> Array:
        """What a place holds when it is taken away."""
        return np.zeros_like(self.values) if self.baseline is None else self.baseline


class Found(NamedTuple):
    """What a method found for a batch: maps (n, places), the scores, and the classes that they are of."""

    maps: Float32Array
    scores: Float64Array
    targets: Int64Array | None
    signed: bool
    layer: str | None = None
    attributions: Array | None = None
    completeness: Float64Array | None = None
    notes: tuple[str, ...] = ()


class Answered(NamedTuple):
    """A gradient, what it was taken at, and the score of each row with its class."""

    gradient: Array
    activation: Array
    scores: Float64Array
    targets: Int64Array | None


def blocks(asked: HeatMapQuestion) -> Iterator[slice]:
    """Cut the samples into parts that the model may get at once."""
    for start in range(0, asked.count, asked.rows):
        yield slice(start, min(start + asked.rows, asked.count))


def packs(asked: HeatMapQuestion, count: int) -> Iterator[tuple[slice, slice]]:
    """Cut `count` changes of every sample into parts of samples times changes that the model may get at once."""
    for samples in blocks(asked):
        at_once = max(1, asked.rows // (samples.stop - samples.start))
        for start in range(0, count, at_once):
            yield samples, slice(start, min(start + at_once, count))


def spread(asked: HeatMapQuestion, samples: slice, changed: Array) -> tuple[dict[str, Array], Int64Array]:
    """Return a batch of changed samples (changes, samples, ...) with the other inputs repeated, and their samples.

    The rows go by change, then by sample.
    """
    times = len(changed)
    batch = {
        name: np.tile(values[samples], (times, *[1] * (values.ndim - 1)))
        for name, values in asked.arrays.items()
        if name != asked.axes.name
    }
    batch[asked.axes.name] = changed.reshape(-1, *changed.shape[2:])
    return batch, np.tile(np.arange(samples.start, samples.stop), times)


def changed_scores(asked: HeatMapQuestion, samples: slice, changed: Array, targets: Int64Array | None) -> Float64Array:
    """Return the score of each changed sample, (changes, samples)."""
    batch, rows = spread(asked, samples, changed)
    answer = asked.model.predict(batch)[asked.aim.output]
    found = asked.aim.scores(answer, rows, None if targets is None else targets[rows])
    return found.reshape(len(changed), -1)


def predict(asked: HeatMapQuestion) -> tuple[Float64Array, Int64Array | None]:
    """Return the score of each sample as it is, and its class."""
    answers = [
        asked.model.predict({name: values[part] for name, values in asked.arrays.items()})[asked.aim.output]
        for part in blocks(asked)
    ]
    answer = answers[0] if len(answers) == 1 else np.concatenate(answers)
    targets = asked.aim.chosen(answer)
    return asked.aim.scores(answer, np.arange(asked.count), targets), targets


def differentiate(asked: HeatMapQuestion, wrt: str, part: slice) -> Answered:
    """Return the gradient of the scores of some samples by an input or a layer, with the scores themselves."""
    aim, batch = asked.aim, {name: values[part] for name, values in asked.arrays.items()}
    targets = None if aim.targets is None else aim.targets[part]
    labels = None if aim.labels is None else aim.labels[part]
    (gradient, activation), answer = asked.model.gradient_with_output(
        batch, aim.output, targets, loss=aim.loss, labels=labels, wrt=wrt
    )
    chosen = Aim(aim.output, aim.axis, targets, aim.loss).chosen(answer)
    scores = aim.scores(answer, np.arange(part.start, part.stop), chosen)
    return Answered(gradient, activation, scores, chosen)
