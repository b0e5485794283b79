"""Overtraining: a training that goes on although nothing gets better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurves
from cutaway.rules.rule import Rule
from cutaway.rules.validation_rounds import ValidationRounds
from cutaway.tensors.reader import TensorReader

__all__ = ["Overtraining"]


@dataclass(eq=False, repr=False, kw_only=True)
class Overtraining(Rule):
    """Neither the training loss nor the validation loss improves any more, and the training goes on.

    What it sees:
        A round is a stretch of EVAL steps between training steps, with its mean validation loss and the mean training
        loss since the round before. A loss improves where it comes below its best by more than `delta`. The rule fires
        where the training loss has not improved for `patience_train` rounds and the validation loss has not for
        `patience_validation` rounds. Every training that goes on after it has converged comes to that.

    Why it matters:
        Further epochs cost time and bring nothing; often they make the model worse on new data.

    What to try:
        Stop here, and keep the checkpoint with the lowest validation loss. If the losses are not yet good enough, lower
        the learning rate, or give the model more capacity or better data.

    Needs:
        Losses of TRAIN and EVAL steps: register the loss, and call `hook.set_mode` before training and validation.

    Parameters:
        patience_train: for how many rounds the training loss may stay above its best.
        patience_validation: for how many rounds the validation loss may.
        delta: by how much a loss must come below its best to improve.
    """

    rest = 20  # its steps are rounds

    patience_train: Whole = Whole(5, least=1)
    patience_validation: Whole = Whole(10, least=1)
    delta: Number = Number(0.01, least=0)

    def reset(self) -> None:
        """Forget the rounds."""
        self._curves, self._rounds = LossCurves(), ValidationRounds()
        self._best: dict[str, tuple[_Best, _Best]] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Judge the rounds that are known by now."""
        for name, rounds in self._rounds.read(self._curves.read(reader, start, stop)).items():
            training, validation = self._best.setdefault(name, (_Best(self.delta), _Best(self.delta)))
            seen = [(training.see(one.step, one.training), validation.see(one.step, one.validation)) for one in rounds]
            if seen:
                yield self._judged(name, [one.step for one in rounds], seen)

    def _judged(self, name: str, steps: list[int], seen: list[tuple[_Standing, _Standing]]) -> Judgement:
        def message(i: int) -> str:
            training, validation = seen[i]
            return (
                f"{name} does not improve any more: at step {steps[i]} it has not come {self.delta:g} below its best "
                f"for {training.rounds} rounds in training (best {training.best:.4g}, now {training.now:.4g}) and "
                f"{validation.rounds} rounds in validation (best {validation.best:.4g}, now {validation.now:.4g})."
            )

        def evidence(i: int) -> dict[str, float | int]:
            training, validation = seen[i]
            return {
                "training_loss": training.now,
                "training_best": training.best,
                "training_rounds": training.rounds,
                "validation_loss": validation.now,
                "validation_best": validation.best,
                "validation_best_step": validation.step,
            }

        fires = [t.rounds >= self.patience_train and v.rounds >= self.patience_validation for t, v in seen]
        rounds = [validation.rounds for _, validation in seen]
        return Judgement.of_one(name, steps, fires, rounds, self.patience_validation, message, evidence)


class _Standing(NamedTuple):
    """A loss now, its best, the step of that, and how many rounds it was not beaten."""

    now: float
    best: float
    step: int
    rounds: int


class _Best:
    """The best of a loss so far."""

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._best, self._step, self._rounds = math.inf, -1, 0

    def see(self, step: int, value: float) -> _Standing:
        """Take in a round; one without a finite loss is no improvement."""
        self._rounds += 1
        if value < self._best - self._delta:
            self._best, self._step, self._rounds = value, step, 0
        return _Standing(value, self._best, self._step, self._rounds)
