"""What two models made of each joined sample: right or wrong, and the loss. Tests nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cutaway.analysis.comparing.joining import Joined, texts
from cutaway.analysis.samples import LOSS, PREDICTION, Samples
from cutaway.arrays import BoolArray, Float64Array, IndexArray, ObjectArray
from cutaway.wording import counted

__all__ = ["Outcomes", "lacking", "outcomes_of"]


@dataclass(frozen=True)
class Outcomes:
    """One row for each joined sample. `answered` says where both models predicted a class and there is a label.

    `losses` are NaN where one is missing, or where the two losses were computed with different labels. `chance` is how
    much of the label's probability was lost, NaN where probabilities are missing.
    """

    labels: ObjectArray
    predictions: tuple[ObjectArray, ObjectArray]
    answered: BoolArray
    right: tuple[BoolArray, BoolArray]
    losses: tuple[Float64Array, Float64Array]
    chance: Float64Array

    @cached_property
    def worse(self) -> BoolArray:
        """Right before, wrong after."""
        return self.answered & self.right[0] & ~self.right[1]

    @cached_property
    def better(self) -> BoolArray:
        """Wrong before, right after."""
        return self.answered & ~self.right[0] & self.right[1]

    @cached_property
    def changes(self) -> Float64Array:
        """How much each loss grew."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.losses[1] - self.losses[0])

    @property
    def known(self) -> BoolArray:
        """Where both models can be compared: by their classes, or by their losses."""
        return np.asarray(self.answered | np.isfinite(self.changes))

    def take(self, rows: BoolArray) -> Outcomes:
        """Return some of the rows."""
        return Outcomes(
            self.labels[rows],
            (self.predictions[0][rows], self.predictions[1][rows]),
            self.answered[rows],
            (self.right[0][rows], self.right[1][rows]),
            (self.losses[0][rows], self.losses[1][rows]),
            self.chance[rows],
        )


def outcomes_of(first: Samples, second: Samples, joined: Joined) -> Outcomes:
    """Return what both models made of each sample."""
    sides = ((first, joined.first), (second, joined.second))
    predictions = (texts(first, PREDICTION, joined.first), texts(second, PREDICTION, joined.second))
    labelled, given = _given(joined.labels), [_given(side) for side in predictions]
    losses = tuple(_losses(samples, rows, joined.relabelled) for samples, rows in sides)
    chances = [_label_chances(samples, rows, joined.labels) for samples, rows in sides]
    answered = np.asarray(labelled & given[0] & given[1])
    return Outcomes(
        joined.labels,
        predictions,
        answered,
        (np.asarray(predictions[0] == joined.labels, np.bool_), np.asarray(predictions[1] == joined.labels, np.bool_)),
        (losses[0], losses[1]),
        np.asarray(chances[0] - chances[1]),
    )


def lacking(outcomes: Outcomes, names: tuple[str, str]) -> list[str]:
    """Say how many labelled samples a model failed on: they can flip neither way."""
    if not outcomes.answered.any():
        return []
    labelled = _given(outcomes.labels)
    counts = [int((labelled & ~_given(side)).sum()) for side in outcomes.predictions]
    pairs = zip(names, counts, strict=True)
    told = [f"{counted(count, 'sample')} that {name!r} failed on" for name, count in pairs if count]
    return [f"Flips leave out {' and '.join(told)}."] if told else []


def _given(texts: ObjectArray) -> BoolArray:
    return np.array([one is not None for one in texts], np.bool_)


def _losses(samples: Samples, rows: IndexArray, relabelled: BoolArray) -> Float64Array:
    if not samples.has(LOSS):
        return np.full(len(rows), np.nan)
    losses = samples.numbers(LOSS)[rows]
    return np.asarray(np.where(relabelled | ~np.isfinite(losses), np.nan, losses))


def _label_chances(samples: Samples, rows: IndexArray, labels: ObjectArray) -> Float64Array:
    if samples.probabilities is None:
        return np.full(len(rows), np.nan)
    number = {name: place for place, name in enumerate(samples.classes)}
    columns = np.array([number.get(one, -1) for one in labels], np.int64)
    found = samples.probabilities[rows, np.maximum(columns, 0)].astype(np.float64)
    return np.asarray(np.where(columns < 0, np.nan, found))
