"""Rounds of validation: the stretches of EVAL steps between training steps, and what both losses were in each.

A round is over when a training step follows it. It is known already at its last step where it has become as long as
the one before: validation sets seldom change. So the last round of a run is heard of too, and what is said of a step
depends on no later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Float64Array, Int64Array
from cutaway.rules.losses import LossCurve, training
from cutaway.tensors.modes import ModeKeys

__all__ = ["ValidationRound", "ValidationRounds"]


class ValidationRound(NamedTuple):
    """One validation: the step at which it is known, and the mean losses; NaN where no value was finite.

    `training` is over the training steps since the round before.
    """

    step: int
    validation: float
    training: float


class ValidationRounds:
    """Follows the rounds of every loss of a run, window after window."""

    def __init__(self) -> None:
        self._losses: dict[str, _Following] = {}

    def read(self, curves: Iterable[LossCurve]) -> dict[str, list[ValidationRound]]:
        """Take in the losses of a window; return the rounds that became known in it, by loss."""
        curves = list(curves)
        trained = {loss.name: loss for loss in training(curves)}
        checked = {loss.name: loss for loss in curves if loss.mode is ModeKeys.EVAL}
        found = {}
        for name in sorted({*trained, *checked}):
            following = self._losses.setdefault(name, _Following())
            found[name] = list(following.rounds(trained.get(name), checked.get(name)))
        return found


@dataclass
class _Mean:
    """The mean of the finite values among `count`."""

    count: int = 0
    finite: int = 0
    total: float = 0.0

    def add(self, values: Float64Array) -> None:
        good = values[np.isfinite(values)]
        self.count += len(values)
        self.finite += len(good)
        self.total += float(good.sum())

    @property
    def mean(self) -> float:
        return self.total / self.finite if self.finite else float("nan")


class _Following:
    """The rounds of one loss."""

    def __init__(self) -> None:
        self._trained, self._checked = _Mean(), _Mean()
        self._length = 0  # of the round before; 0 while there is none
        self._is_known = False

    def rounds(self, trained: LossCurve | None, checked: LossCurve | None) -> Iterator[ValidationRound]:
        for is_validation, steps, values in _stretches(trained, checked):
            if is_validation:
                yield from self._validated(steps, values)
                continue
            if self._checked.count:
                if not self._is_known:
                    yield self._round(int(steps[0]))
                self._length, self._is_known = self._checked.count, False
                self._trained, self._checked = _Mean(), _Mean()
            self._trained.add(values)

    def _validated(self, steps: Int64Array, values: Float64Array) -> Iterator[ValidationRound]:
        missing = self._length - self._checked.count
        if not self._is_known and 0 < missing <= len(steps):
            self._checked.add(values[:missing])
            self._is_known = True
            yield self._round(int(steps[missing - 1]))
            values = values[missing:]
        self._checked.add(values)

    def _round(self, step: int) -> ValidationRound:
        return ValidationRound(step, self._checked.mean, self._trained.mean)


def _stretches(trained: LossCurve | None, checked: LossCurve | None) -> Iterator[tuple[bool, Int64Array, Float64Array]]:
    """Yield the values of both in the order of their steps, in stretches of one kind."""
    parts = [(kind, loss) for kind, loss in ((False, trained), (True, checked)) if loss is not None]
    steps = np.concatenate([loss.steps for _, loss in parts])
    order = np.argsort(steps, kind="stable")
    values = np.concatenate([loss.values for _, loss in parts])[order]
    kinds = np.concatenate([np.full(len(loss.steps), kind) for kind, loss in parts])[order]
    steps = steps[order]
    cuts = np.flatnonzero(np.diff(kinds)) + 1
    bounds = [0, *cuts.tolist(), len(steps)]
    for first, last in pairwise(bounds):
        yield bool(kinds[first]), steps[first:last], values[first:last]
