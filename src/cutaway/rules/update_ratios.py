"""How much of themselves the weights change in a step, beside the loss and the learning rate, over a window of steps.

Says nothing about what is too much or too little; the rules about the learning rate do, which share a class.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.rules.arguments import Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurve, LossCurves, TrainingSteps, training
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import has_vanished, selected
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["LearningRateRule", "UpdateRatios", "Updates", "rates_at", "total_loss"]

# A loss this much smaller than its first value has converged.
_CONVERGED = 1e-3
# The mean of so many losses is where a training begins: the first alone is that of one batch.
_FIRST = 5
# A difference of means of so many standard errors is more than chance.
_CERTAIN = 2.0


@dataclass(frozen=True)
class Updates:
    """What the window up to each step shows.

    `ratio` is the median share by which weights change in a step, `before` and `after` the mean loss of the window's
    halves, `noise` the standard error of their difference, `peak` its highest loss; `rate` the learning rate,
    `rate_before` that of the window's first step, `highest_rate` the highest so far, all NaN where unknown;
    `highest_ratio` the highest share of any step so far. `since` is the window's first step, and `whole` whether it is
    as long as it shall be, which at the beginning of a run it is not. `start` is the mean of the first few losses.
    """

    steps: Int64Array
    since: Int64Array
    whole: BoolArray
    ratio: Float64Array
    before: Float64Array
    after: Float64Array
    noise: Float64Array
    peak: Float64Array
    rate: Float64Array
    rate_before: Float64Array
    highest_rate: Float64Array
    highest_ratio: Float64Array
    first_loss: float
    start: float

    @property
    def converged(self) -> BoolArray:
        """Whether so little is left of the loss that nothing must be learned any more."""
        return np.abs(self.after) < _CONVERGED * abs(self.first_loss)

    def fell(self, share: float = 0.0) -> BoolArray:
        """Whether the loss fell by more than chance explains, and by more than a share of itself."""
        fall = self.before - self.after
        return (fall > _CERTAIN * self.noise) & (fall > share * np.abs(self.before))

    def came_down(self, share: float) -> BoolArray:
        """Whether the loss is by a share below where the training began."""
        return self.after < self.start - share * abs(self.start)

    def evidence(self, i: int) -> dict[str, float | None]:
        """Return what a finding says of one step."""
        rate = float(self.rate[i])
        return {
            "since": int(self.since[i]),
            "loss_before": float(self.before[i]),
            "loss": float(self.after[i]),
            "learning_rate": None if math.isnan(rate) else rate,
        }

    def rate_in_words(self, i: int) -> str:
        """Return a sentence about the learning rate, where it is known."""
        return "" if math.isnan(self.rate[i]) else f" The learning rate is {self.rate[i]:g}."


class UpdateRatios:
    """Follows the training steps that have statistics of weights and a loss, window after window.

    Looks back over `window` of them; at the beginning of a run over what there is, from `least` on. Where the mean
    absolute gradient of a weight is below `vanished`, its share is left out.
    """

    def __init__(self, window: int, least: int, vanished: float = 0.0) -> None:
        self._window, self._least = window, min(least, window)
        self._vanished = vanished
        self._curves, self._training = LossCurves(), TrainingSteps()
        self._kept = np.empty((4, 0))  # step, ratio, loss and learning rate of the last steps
        self._number = -1  # of the last training step among those of its mode
        self._first_losses = np.empty(0)
        self._highest_rate = self._highest_ratio = math.nan

    def read(self, reader: TensorReader, start: int, stop: int) -> Updates | None:
        """Take in further steps; return what is seen at those that have a whole window behind them."""
        weights = selected(reader, ["weights"])
        losses = training(self._curves.read(reader, start, stop))
        steps, ratio = self._ratios(reader, weights, start, stop)
        loss = total_loss(losses, steps)
        self._first_losses = np.concatenate([self._first_losses, loss[np.isfinite(loss)]])[:_FIRST]
        good = np.isfinite(ratio) & np.isfinite(loss)
        if not good.any():
            return None
        rate = rates_at(reader, start, stop, steps)
        fresh = np.stack([steps, ratio, loss, rate])[:, good]
        highest = np.fmax.accumulate(np.fmax(fresh[[3, 1]].T, [self._highest_rate, self._highest_ratio])).T
        self._highest_rate, self._highest_ratio = highest[:, -1].tolist()
        before = self._kept.shape[1]
        joined = np.concatenate([self._kept, fresh], axis=1)
        self._kept = joined[:, -self._window :]
        first = max(before, self._least - 1)  # the first step that enough others precede
        return self._seen(joined, first, highest[:, first - before :]) if first < joined.shape[1] else None

    def _seen(self, joined: Float64Array, first: int, highest: Float64Array) -> Updates:
        """Describe the windows that end at each step from `first` on."""
        count = joined.shape[1]
        parts = [_described_windows(joined[:, None, : end + 1]) for end in range(first, min(self._window - 1, count))]
        if count >= max(self._window, first + 1):
            windows = np.lib.stride_tricks.sliding_window_view(joined, self._window, axis=1)
            parts.append(_described_windows(windows[:, max(first + 1 - self._window, 0) :]))
        since, ratio, before, after, noise, peak, rate, rate_before = np.concatenate(parts, axis=1)
        steps = joined[0, first:].astype(np.int64)
        whole = np.arange(first, count) >= self._window - 1
        highest_rate, highest_ratio = highest
        return Updates(
            *(steps, since.astype(np.int64), whole),
            *(ratio, before, after, noise, peak),
            *(rate, rate_before, highest_rate, highest_ratio),
            *(float(self._first_losses[0]), float(self._first_losses.mean())),
        )

    def _shares(
        self, reader: TensorReader, weights: Sequence[str], start: int, stop: int
    ) -> tuple[Int64Array, Float64Array]:
        """Return the steps with statistics of weights, and by which share of itself each changed."""
        blocks = reader.statistics_blocks(weights, start, stop)
        limit = self._vanished
        return _joined(blocks, [has_vanished(reader, block, limit) if limit else None for block in blocks])

    def _ratios(
        self, reader: TensorReader, weights: Sequence[str], start: int, stop: int
    ) -> tuple[Int64Array, Float64Array]:
        """Return the training steps with statistics of weights, and the median share of change in each."""
        rows = reader.step_window(start, stop)
        trains = self._training.among(rows)
        numbers = dict(zip(rows["step"][trains].tolist(), rows["mode_step"][trains].tolist(), strict=True))
        steps, shares = self._shares(reader, weights, start, stop)
        own = np.array([step in numbers for step in steps.tolist()], bool)
        steps, ratio = steps[own], _middle(shares[:, own])
        if not len(steps):
            return steps, ratio
        # Statistics may be rarer than steps: the change is then that of several.
        counted = np.array([self._number, *(numbers[step] for step in steps.tolist())])
        self._number = int(counted[-1])
        return steps, ratio / np.maximum(np.diff(counted), 1)


def _described_windows(windows: Float64Array) -> Float64Array:
    """Return of windows of step, ratio, loss and rate what `Updates` holds of each."""
    step, ratio, loss, rate = windows
    half = loss.shape[1] // 2
    scatter = np.sqrt((np.diff(loss, axis=1) ** 2).mean(axis=1) / 2)
    noise = scatter * math.sqrt(1 / half + 1 / (loss.shape[1] - half))
    before, after = loss[:, :half].mean(axis=1), loss[:, half:].mean(axis=1)
    middle, peak = np.median(ratio, axis=1), loss.max(axis=1)
    return np.stack([step[:, 0], middle, before, after, noise, peak, rate[:, -1], rate[:, 0]])


def _joined(blocks: Sequence[StatisticsBlock], left_out: Sequence[BoolArray | None]) -> tuple[Int64Array, Float64Array]:
    """Return all steps of some blocks, and the share by which each tensor changed at each.

    It is NaN where it is not known, or left out.
    """
    parts = []
    for block, out in zip(blocks, left_out, strict=True):
        size, change = block["l2"], block["change"]
        known = (size > 0) & (block["nonfinite"] == 0)
        if out is not None:
            known &= ~out
        parts.append(np.divide(change, size, out=np.full(size.shape, np.nan), where=known))
    if len(parts) == 1:
        return blocks[0].steps, parts[0]
    steps = np.unique(np.concatenate([block.steps for block in blocks])) if blocks else np.empty(0, np.int64)
    shares = [np.full((len(part), len(steps)), np.nan) for part in parts]
    for whole, part, block in zip(shares, parts, blocks, strict=True):
        whole[:, np.searchsorted(steps, block.steps)] = part
    return steps, np.concatenate([np.empty((0, len(steps))), *shares])


def _middle(shares: Float64Array) -> Float64Array:
    """Return the median over the tensors that changed at each step; 0 where none did, NaN where none is known."""
    moved = shares > 0
    ordered = np.sort(np.where(moved, shares, np.inf).T, axis=1)
    count = moved.sum(axis=0)
    rows = np.arange(shares.shape[1])
    found = np.zeros(shares.shape[1])
    some = count > 0
    low, high = ordered[rows[some], (count[some] - 1) // 2], ordered[rows[some], count[some] // 2]
    found[some] = (low + high) / 2
    found[np.isnan(shares).all(axis=0)] = np.nan
    return found


def total_loss(losses: Sequence[LossCurve], steps: Int64Array) -> Float64Array:
    """Return the sum of all losses at some steps; NaN where there is none."""
    total, seen = np.zeros(len(steps)), np.zeros(len(steps), bool)
    for loss in losses:
        places = np.searchsorted(steps, loss.steps)
        here = places < len(steps)
        here[here] = steps[places[here]] == loss.steps[here]
        total[places[here]] += loss.values[here]
        seen[places[here]] = True
    return np.where(seen, total, np.nan)


def rates_at(reader: TensorReader, start: int, stop: int, steps: Int64Array) -> Float64Array:
    """Return the learning rate, of several the first, at some steps; NaN where unknown."""
    names = sorted(name for name in reader.scalar_names() if name.split("/")[0] == "learning_rate")
    found = np.full(len(steps), np.nan)
    if names:
        rows = reader.scalar_window(names[0], start, stop)
        _, own, theirs = np.intersect1d(steps, rows["step"], return_indices=True)
        found[own] = rows["value"][theirs]
    return found


class LearningRateRule(Rule):
    """A rule about the learning rate: judges how far the weights move beside what the loss does.

    It gets the updates of `window` training steps; at the beginning of a run those of `least` of them. Weights whose
    mean absolute gradient is below `vanished` are left out.
    """

    window: Whole
    least: ClassVar[int | None] = None  # by default a whole window
    vanished: ClassVar[float] = 0.0

    @abstractmethod
    def judge_updates(self, seen: Updates) -> Judgement:
        """Say at which steps the weights moved too much or too little."""

    def reset(self) -> None:
        """Forget the steps."""
        self._updates = UpdateRatios(self.window, self.least or self.window, self.vanished)

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Judge the steps that have a whole window behind them."""
        seen = self._updates.read(reader, start, stop)
        if seen is not None:
            yield self.judge_updates(seen)
