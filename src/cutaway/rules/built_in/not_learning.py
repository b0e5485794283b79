"""NotLearning: a training that has learned nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import RunError
from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurves, training
from cutaway.rules.rule import Rule
from cutaway.rules.update_ratios import rates_at, total_loss
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial

__all__ = ["NotLearning"]

# Where a training begins is the mean of so many losses: the first alone is that of one batch.
_FIRST = 5
# Differences of so many standard errors are more than chance.
_CERTAIN = 2.0
# A loss that still falls by this share of itself from one half of the stretch to the next learns, if slowly; and where
# its scatter could hide a fall of the second share, nobody knows yet.
_STILL_FALLS = 0.005
_COULD_FALL = 0.02
# The longest stretch, in times of `patience`.
_LONGEST = 3
# Below this share of what guessing gives, something was learned, perhaps before this training began.
_BETTER_THAN_CHANCE = 0.8
# Losses of which it is known what guessing gives: a choice among classes, and a choice of two.
_OF_CLASSES = ("CrossEntropyLoss", "NLLLoss")
_OF_TWO = ("BCEWithLogitsLoss", "BCELoss")


@dataclass(eq=False, repr=False, kw_only=True)
class NotLearning(Rule):
    """The training has learned nothing: its loss stands where it began, or where guessing would bring it.

    What it sees:
        From `patience` training steps on, the mean loss of the last half of all steps (of three times `patience` at
        most) is compared with that of the first five. The rule fires where the fall is less than `least_percent`
        percent with what chance explains added (two standard errors), and the loss does not fall at present either, as
        far as its scatter lets that be seen; and where it has clearly risen. Of a classification whose classes the hook
        has counted it is also known what guessing gives, the logarithm of their number: the rule fires too where the
        loss has come down to just that, and is silent where it lies far below, as in a model that was trained before.
        Steps whose learning rate is being raised are not judged. With several losses, as of adversaries, one stretch in
        which their sum was lower is enough to keep it silent; with several learning rates as well, it does not judge.
        A training that begins to learn only after hundreds of steps is named until then, and so may be one that
        continues a good model with a loss of which nobody knows what guessing gives.

    Why it matters:
        The training costs as much as one that learns, and what it writes is a model that guesses.

    What to try:
        See what was found beside it first: a learning rate, dead units, or weights that no optimizer was given explain
        it. Otherwise look at the data: do the labels belong to the inputs after shuffling, and do the inputs differ
        from each other? Then at the loop: the sign of the loss, `zero_grad()`, a `detach()` on the way to the loss.
        A network that can learn learns a single batch by heart: try that.

    Needs:
        A loss of training steps: the collection `losses`, or a scalar named `loss`; and where there are several, one
        learning rate.

    Parameters:
        patience: after how many training steps it must have learned something.
        least_percent: by how many percent the loss must have fallen by then.
    """

    severity = "error"

    patience: Whole = Whole(200, least=20)
    least_percent: Number = Number(5, above=0, most=100)

    def reset(self) -> None:
        """Forget the losses."""
        self._curves = LossCurves()
        self._first: Float64Array = np.empty(0)
        self._last = np.empty((3, 0))  # step, loss and learning rate of the last stretch
        self._count = 0  # of the losses so far
        self._lowest = math.inf
        self._chance = math.nan

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare each stretch of losses with where they began."""
        curves = training(self._curves.read(reader, start, stop))
        several = len(curves) > 1
        if several and sum(name.startswith("learning_rate/") for name in reader.scalar_names()) > 1:
            return
        steps = np.unique(np.concatenate([np.empty(0, np.int64), *(one.steps for one in curves)]))
        loss = total_loss(curves, steps)
        fresh = np.stack([steps, loss, rates_at(reader, start, stop, steps)])[:, np.isfinite(loss)]
        seen = self._stretches(fresh)
        if seen is None:
            return
        if math.isnan(self._chance) and isinstance(reader, Trial):
            self._chance = _loss_of_guessing(reader)
        level = seen.mean
        if several:
            level = np.minimum.accumulate(np.minimum(level, self._lowest))
            self._lowest = float(level[-1])
        yield self._judged(seen, level)

    def _stretches(self, fresh: Float64Array) -> _Stretches | None:
        """Take in losses; return what the stretch up to each of them shows, from the first that may be judged."""
        longest, before = _LONGEST * self.patience, self._count
        self._first = np.concatenate([self._first, fresh[1]])[:_FIRST]
        joined = np.concatenate([self._last, fresh], axis=1)
        kept = self._last.shape[1]
        self._last, self._count = joined[:, -longest:], before + fresh.shape[1]
        # Stretches grow with the training, and are of one length from then on.
        judged = range(max(before, self.patience - 1), self._count)
        growing = [place for place in judged if place + 1 < 2 * longest]
        parts = []
        for place in growing:
            end = place - before + kept + 1
            parts.append(_Stretches.of(joined[:, None, end - (place + 1) // 2 : end]))
        whole = len(judged) - len(growing)
        if whole:
            parts.append(_Stretches.of(sliding_window_view(joined[:, -(whole + longest - 1) :], longest, axis=1)))
        return _Stretches(*map(np.concatenate, zip(*parts, strict=True))) if parts else None

    def _judged(self, seen: _Stretches, level: Float64Array) -> Judgement:
        began, chance, least = float(self._first.mean()), self._chance, self.least_percent / 100
        doubt = _CERTAIN * seen.scatter
        doubt_of_fall = doubt * np.sqrt(1 / _FIRST + 1 / seen.length)
        stands = began - level + doubt_of_fall < least * abs(began)
        risen = level - began - doubt_of_fall > least * abs(began)
        guesses = (level - doubt / np.sqrt(seen.length) > (1 - least) * chance) & (level < (1 + least) * chance)
        learned = level < _BETTER_THAN_CHANCE * chance

        def message(i: int) -> str:
            beside = f", and guessing gives {chance:.4g}" if math.isfinite(chance) else ""
            return (
                f"The training has learned nothing: the mean loss of the {seen.length[i]} training steps up to step "
                f"{seen.step[i]} is {seen.mean[i]:.4g}; in the first {_FIRST} steps it was {began:.4g}{beside}."
            )

        def evidence(i: int) -> dict[str, float | int | None]:
            return {
                "since": int(seen.since[i]),
                "loss": float(seen.mean[i]),
                "first_loss": began,
                "loss_of_guessing": chance if math.isfinite(chance) else None,
            }

        fires = ((stands | guesses) & ~seen.unsure) | risen
        fires &= ~(learned | seen.falls | seen.warms_up)
        fallen = 100 * (began - level) / (abs(began) or 1.0)
        return Judgement.of_one("", seen.step, fires, fallen, self.least_percent, message, evidence)


class _Stretches(NamedTuple):
    """The losses of the last steps up to each: how many, their mean and scatter, whether they fall or scatter too much
    to tell, and whether the learning rate is being raised.
    """

    since: Int64Array
    step: Int64Array
    length: Int64Array
    mean: Float64Array
    scatter: Float64Array
    falls: BoolArray
    unsure: BoolArray
    warms_up: BoolArray

    @classmethod
    def of(cls, windows: Float64Array) -> _Stretches:
        """Describe windows of steps, losses and learning rates."""
        steps, loss, rate = windows
        length = loss.shape[1]
        half = length // 2
        scatter = np.sqrt((np.diff(loss, axis=1) ** 2).mean(axis=1) / 2)
        before, after = loss[:, :half].mean(axis=1), loss[:, half:].mean(axis=1)
        noise = scatter * math.sqrt(1 / half + 1 / (length - half))
        fall, doubt, size = before - after, _CERTAIN * noise, np.abs(before)
        falls, unsure = fall > np.maximum(doubt, _STILL_FALLS * size), fall + doubt > _COULD_FALL * size
        since, until = steps[:, 0].astype(np.int64), steps[:, -1].astype(np.int64)
        lengths = np.full(len(loss), length)
        return cls(since, until, lengths, loss.mean(axis=1), scatter, falls, unsure, rate[:, -1] > rate[:, 0])


def _loss_of_guessing(trial: Trial) -> float:
    """Return what a model reaches that knows nothing but how many classes there are."""
    try:
        config = trial.run.config()
    except (RunError, OSError):
        return math.nan
    if config.get("loss") in _OF_TWO:
        return math.log(2)
    classes = config.get("classes") if config.get("loss") in _OF_CLASSES else None
    return math.log(classes) if isinstance(classes, int) and classes > 1 else math.nan
