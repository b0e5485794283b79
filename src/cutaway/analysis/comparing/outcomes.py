"""What two models made of each joined sample: right or wrong, and the loss. Tests nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cutaway.analysis.comparing.joining import Joined, texts
from cutaway.analysis.samples import LOSS, PREDICTION, Samples
from cutaway.arrays import BoolArray, Float64Array, IndexArray, ObjectArray

__all__ = ["Outcomes", "outcomes_of"]


@dataclass(frozen=True)
class Outcomes:
    """One row for each joined sample. `answered` says where both models gave a class and there is a label.

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


def outcomes_of(first: Samples, second: Samples, joined: Joined, names: tuple[str, str]) -> tuple[Outcomes, list[str]]:
    """Return what both models made of each sample, and what is left out."""
    sides = ((first, joined.first), (second, joined.second))
    predictions = (texts(first, PREDICTION, joined.first), texts(second, PREDICTION, joined.second))
    labelled = np.array([one is not None for one in joined.labels], np.bool_)
    given = [np.array([one is not None for one in side], np.bool_) for side in predictions]
    losses = tuple(_losses(samples, rows, joined.relabelled) for samples, rows in sides)
    chances = [_label_chances(samples, rows, joined.labels) for samples, rows in sides]
    answered = np.asarray(labelled & given[0] & given[1])
    outcomes = Outcomes(
        joined.labels,
        predictions,
        answered,
        (np.asarray(predictions[0] == joined.labels, np.bool_), np.asarray(predictions[1] == joined.labels, np.bool_)),
        (losses[0], losses[1]),
        np.asarray(chances[0] - chances[1]),
    )
    notes = []
    if answered.any():
        lacking = {name: int((labelled & ~side).sum()) for name, side in zip(names, given, strict=True)}
        told = [f"{count:,} that {name!r} gave no answer to" for name, count in lacking.items() if count]
        if told:
            notes.append(f"Flips leave out {' and '.join(told)}: they failed there.")
    return outcomes, notes


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
