"""LossSpike: one batch whose loss stands out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Float64Array
from cutaway.errors import StepUnavailable
from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurve, LossCurves, training
from cutaway.rules.rule import Rule
from cutaway.tensors.reader import TensorReader

__all__ = ["LossSpike"]


# Before so many losses are known, nobody can say what is usual.
_LEAST = 20
# How far above the median a spike is, in medians.
_SHARE = 0.5
# Small batches of a model that has learned most samples have rare large losses, which the usual scatter does not know
# of. So a spike is also this many times as far away as what was second farthest before it, and stands out by this much
# among the logarithms, by which such losses scatter evenly.
_TAIL = 4.0
_LOGARITHM = 5.0
# Of a loss that does not scatter at all, a thousandth counts as scatter.
_SMALLEST = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class LossSpike(Rule):
    """The loss of one batch is far above what is usual.

    What it sees:
        The training loss of a step is above the median of the `window` losses before it by more than `threshold` times
        their scatter (1.4826 times the median distance from the median), by more than half of that median, and by
        more than four times as much as all but one of them. Where losses differ by orders of magnitude, as those of
        small batches do late in a training, it must stand out among their logarithms too (5 times their scatter). A
        loss that is not a number is ExplodingTensor's.

    Why it matters:
        One such batch can undo the learning of many. Most often its data is damaged or wrongly labelled, or the
        learning rate is at the edge of what the model stands.

    What to try:
        Look at the samples that the finding names: wrong labels, damaged files, values out of range. If they are
        fine, clip the gradients, lower the learning rate or warm it up, or skip batches with such a loss.

    Needs:
        A loss of training steps: the collection `losses`, or a scalar named `loss`. The samples are named where the
        loader was given to `hook.samples`.

    Parameters:
        window: with how many losses before it a loss is compared; with 20 at least.
        threshold: how many times their scatter a spike is above their median.
    """

    rest = 10  # every spike has samples of its own

    window: Whole = Whole(100, least=_LEAST)
    threshold: Number = Number(8.0, above=0)

    def reset(self) -> None:
        """Forget the losses."""
        self._curves = LossCurves()
        self._before: dict[str, Float64Array] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare every training loss with those before it."""
        for loss in training(self._curves.read(reader, start, stop)):
            good = np.isfinite(loss.values)
            steps, values = loss.steps[good], loss.values[good]
            before = self._before.get(loss.name, np.empty(0))
            joined = np.concatenate([before, values])
            self._before[loss.name] = joined[-self.window :]
            first = max(len(before), _LEAST)  # the first value that enough others precede
            if first < len(joined):
                usual = _usual(joined, first, self.window)
                kept = first - len(before)
                yield self._judged(reader, LossCurve(loss.name, loss.mode, steps[kept:], values[kept:], 0), usual)

    def _judged(self, reader: TensorReader, loss: LossCurve, usual: _Usual) -> Judgement:
        above = loss.values - usual.median
        scale = np.maximum(1.4826 * usual.distance, _SMALLEST * np.abs(usual.median))
        score: Float64Array = np.divide(above, scale, out=np.zeros(len(above)), where=scale > 0)
        fires = (score > self.threshold) & (above > _SHARE * np.abs(usual.median)) & (above > _TAIL * usual.tail)
        fires &= ~(_log(loss.values) - _log(usual.median) < _LOGARITHM * 1.4826 * usual.log_distance)

        def message(i: int) -> str:
            step = int(loss.steps[i])
            named = _samples_noted_at(reader, step)
            samples = f" The {named} samples of its batch are named." if named else ""
            return (
                f"{loss.name} spikes: at step {step} it is {loss.values[i]:.4g}, where {usual.median[i]:.4g} is usual; "
                f"that is {score[i]:.3g} times the scatter of the losses before, above {self.threshold:g}.{samples}"
            )

        def evidence(i: int) -> dict[str, float]:
            return {
                "loss": float(loss.values[i]),
                "usual_loss": float(usual.median[i]),
                "usual_scatter": float(scale[i]),
            }

        return Judgement.of_one(loss.name, loss.steps, fires, score, self.threshold, message, evidence)


class _Usual(NamedTuple):
    """Of the losses before each step: their median, the median distance from it, and the second largest distance.

    `log_distance` is the median distance of their logarithms; NaN where one of them has none.
    """

    median: Float64Array
    distance: Float64Array
    tail: Float64Array
    log_distance: Float64Array


def _usual(values: Float64Array, first: int, window: int) -> _Usual:
    """Describe what precedes each of `values[first:]`, up to `window` of them."""
    parts = [_of_windows(values[None, :end]) for end in range(first, min(window, len(values)))]
    if len(values) > max(first, window):
        rows = np.lib.stride_tricks.sliding_window_view(values[:-1], window)
        parts.append(_of_windows(rows[max(first - window, 0) :]))
    return _Usual(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _of_windows(rows: Float64Array) -> _Usual:
    middle: Float64Array = np.median(rows, axis=1)
    away = rows - middle[:, None]
    tail: Float64Array = np.partition(away, -2, axis=1)[:, -2]
    distance: Float64Array = np.median(np.abs(away), axis=1)
    log_distance: Float64Array = np.median(np.abs(_log(rows) - _log(middle)[:, None]), axis=1)
    return _Usual(middle, distance, tail, log_distance)


def _log(values: Float64Array) -> Float64Array:
    return np.log(values, out=np.full(values.shape, np.nan), where=values > 0)


def _samples_noted_at(reader: TensorReader, step: int) -> int:
    try:
        return sum(one is not None for one in reader.samples(step) or ())
    except StepUnavailable:  # a loss saved by hand at a step that left no record
        return 0
