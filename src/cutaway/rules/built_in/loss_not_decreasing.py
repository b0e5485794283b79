"""LossNotDecreasing: a loss that no longer comes down, or goes up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Float64Array, Int64Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import Flag, Number, Pattern, Whole, Words
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurve, LossCurves, needs_loss
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, selected
from cutaway.rules.trends import Trend, scatter, trend
from cutaway.rules.validation_rounds import ValidationRounds
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader

__all__ = ["LossNotDecreasing"]

# How many standard errors a difference must have to be more than chance: a long run is checked thousands of times.
_CERTAIN = 4.0
# Means of fewer values than this are not compared.
_FEW = 4
# The longest stretches that are compared are 2 ** _DOUBLINGS times num_steps.
_DOUBLINGS = 10
# A rise is compared with so many stretches before, too.
_LONGER = 4
# A loss this much smaller than its first value has converged.
_CONVERGED = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class LossNotDecreasing(Rule):
    """The loss does not come down, or goes up.

    What it sees:
        Every `num_steps` steps the loss is compared with what it was at least `num_steps` steps before. The rule fires
        where it has fallen by less than `diff_percent` percent, or has risen by more than `increase_threshold_percent`
        percent. Losses of single batches scatter, so where there is more than one value in a stretch of `num_steps`
        steps, the mean of the last stretch is compared with the mean of the stretch before, and the difference must be
        more than scatter explains (4 standard errors, from the differences of neighbouring values). Where scatter hides
        a fall of `diff_percent`, both stretches are doubled until it would show. A rise must also lead above the mean
        of the four stretches before these two, by as much: after a fall a few batches may be bad. Where a stretch holds
        at most one value, single values are compared; a rise must then be more than twice what neighbouring values
        differ. The losses of a validation count as one value, their mean, and are compared only once there are enough
        of them. A loss below a thousandth of its first value has converged, and is not judged.

    Why it matters:
        A training whose loss does not fall learns nothing, and costs as much as one that does.

    What to try:
        Look at the learning rate first: too high and the loss bounces or climbs, too low and it stands. Check that the
        labels belong to the inputs, that the optimizer was given the model's parameters, that `zero_grad` is called,
        and that inputs are normalised. Where the loss has been low for long the training has converged: stop it.

    Needs:
        A loss: the collection `losses`, or a scalar named `loss`. Other tensors of one number are found with
        `collection_names` and `tensor_regex`.

    Parameters:
        collection_names: collections with further losses.
        tensor_regex: a regular expression that finds further losses.
        use_losses_collection: whether the collection `losses` is looked at.
        num_steps: after how many steps the loss is checked, and against how old a value at least.
        diff_percent: by how many percent the loss must fall in `num_steps` steps.
        increase_threshold_percent: by how many percent it may rise.
        mode: EVAL, TRAIN or GLOBAL (the steps of no mode); by default each that has losses, by itself.
    """

    collection_names: Words = Words()
    tensor_regex: Pattern = Pattern()
    use_losses_collection: Flag = Flag(default=True)
    num_steps: Whole = Whole(10, least=1)
    diff_percent: Number = Number(0.1, least=0, most=100)
    increase_threshold_percent: Number = Number(5, least=0)
    mode: ModeKeys | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mode = ModeKeys.parse(self.mode).name if self.mode else None

    def reset(self) -> None:
        """Forget the losses."""
        self._curves, self._rounds = LossCurves(), ValidationRounds()
        self._followed: dict[tuple[str, ModeKeys], _Followed] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Check every loss that is due for it."""
        parts: dict[str, list[_LossComparison]] = {}
        for loss in self._values(self._curves.read(reader, start, stop, self._tensors(reader))):
            if self.mode in (None, loss.mode.name):
                followed = self._followed.setdefault((loss.name, loss.mode), _Followed(self, loss))
                parts.setdefault(loss.name, []).extend(followed.checks(loss))
        for name, checks in parts.items():
            if checks:
                yield self._judged(name, sorted(checks, key=lambda check: check.step))

    def _tensors(self, reader: TensorReader) -> list[str] | None:
        """Return the tensors to look at; None for the run's own losses, which may be scalars."""
        if not self.collection_names and self.tensor_regex is None and self.use_losses_collection:
            return None
        own = in_collection(reader, "losses") if self.use_losses_collection else []
        try:
            others = selected(reader, self.collection_names, self.tensor_regex)
        except InsufficientInformationForRuleInvocation:
            if not own:
                raise
            others = []
        if not own and not others:
            raise needs_loss(reader)
        return sorted({*own, *others})

    def _values(self, curves: list[LossCurve]) -> Iterator[LossCurve]:
        """Yield the losses of each mode; of a validation, which is many steps of one model, its mean."""
        yield from (loss for loss in curves if loss.mode in (ModeKeys.TRAIN, ModeKeys.GLOBAL))
        for name, rounds in self._rounds.read(curves).items():
            if rounds:
                steps = np.array([one.step for one in rounds], np.int64)
                yield LossCurve(name, ModeKeys.EVAL, steps, np.array([one.validation for one in rounds]), 0)

    def _judged(self, name: str, checks: list[_LossComparison]) -> Judgement:
        return Judgement.of_one(
            name,
            [one.step for one in checks],
            [one.fires for one in checks],
            [one.percent * (self.num_steps / one.span if one.is_mean else 1) for one in checks],
            self.diff_percent,
            lambda i: checks[i].message(name),
            lambda i: checks[i].evidence(),
        )


class _LossComparison(NamedTuple):
    """What one check saw.

    `seen` holds the loss before and now: single values, or the means of the last `span` steps and of those before.
    """

    step: int
    fires: bool
    seen: Trend
    span: int
    against: int
    needed: float
    mode: ModeKeys
    is_mean: bool

    @property
    def percent(self) -> float:
        return self.seen.percent

    def message(self, name: str) -> str:
        of_mode = " of validation" if self.mode is ModeKeys.EVAL else ""
        side = "above" if self.seen.fall < 0 else "below"
        rises = self.seen.fall < -_CERTAIN * self.seen.noise
        begin = f"{name}{of_mode} {'is rising' if rises else 'is not falling'}: "
        by = f"{abs(self.percent):.2g} percent {side} the {self.seen.before:.4g} of"
        least = "" if rises else f"; it should have fallen by {self.needed:.2g} percent"
        if self.is_mean:
            mean = f"its mean over the last {self.span} steps up to step {self.step} is {self.seen.after:.4g}"
            return f"{begin}{mean}, {by} the {self.span} steps before{least}."
        return f"{begin}at step {self.step} it is {self.seen.after:.4g}, {by} step {self.against}{least}."

    def evidence(self) -> dict[str, float | int | str]:
        return {
            "loss": self.seen.after,
            "loss_before": self.seen.before,
            "percent_fallen": self.percent,
            "percent_needed": self.needed,
            "step_before": self.against,
            "steps_compared": self.span,
            "of_mode": self.mode.name,
        }


class _Followed:
    """One loss in one mode: its last values, and when it is checked next."""

    def __init__(self, rule: LossNotDecreasing, first: LossCurve) -> None:
        self._num_steps = rule.num_steps
        self._least = rule.diff_percent / 100
        self._most_rise = rule.increase_threshold_percent / 100
        self._mode = first.mode
        self._steps: Int64Array = np.empty(0, np.int64)
        self._values: Float64Array = np.empty(0)
        self._first = math.nan
        self._first_step = self._due = -1

    def checks(self, loss: LossCurve) -> Iterator[_LossComparison]:
        """Take in further values; yield the checks that they bring."""
        good = np.isfinite(loss.values)
        steps, values = loss.steps[good], loss.values[good]
        if not len(steps):
            return
        if self._due < 0:
            self._first, self._first_step = float(values[0]), int(steps[0])
            self._due = self._first_step + self._num_steps - 1
        kept = len(self._steps)
        self._steps, self._values = np.concatenate([self._steps, steps]), np.concatenate([self._values, values])
        place = kept + int(np.searchsorted(steps, self._due))
        while place < len(self._steps):
            found = self._check(place)
            if found is not None:
                yield found
            self._due = int(self._steps[place]) + self._num_steps
            place = int(np.searchsorted(self._steps, self._due))
        oldest = int(self._steps[-1]) - (2 + _LONGER) * (self._num_steps << _DOUBLINGS)
        cut = min(int(np.searchsorted(self._steps, oldest)), max(len(self._steps) - 2 * _FEW, 0))
        self._steps, self._values = self._steps[cut:], self._values[cut:]

    def _is_high(self, seen: Trend, first: int, span: int) -> bool:
        """Whether a rise leads above what the loss was for some time before: after a fall a few batches may be bad."""
        begin = int(np.searchsorted(self._steps, int(self._steps[first]) - _LONGER * span))
        earlier = self._values[begin:first]
        return len(earlier) < _FEW or seen.after - float(earlier.mean()) > _CERTAIN * seen.noise

    def _check(self, place: int) -> _LossComparison | None:
        step = int(self._steps[place])
        older = int(np.searchsorted(self._steps, step - self._num_steps, side="right")) - 1
        if older < 0:
            return None
        if place - older == 1 and self._mode is not ModeKeys.EVAL:
            return self._of_single(place, older)
        return self._of_stretches(place)

    def _of_single(self, place: int, older: int) -> _LossComparison:
        before, after = float(self._values[older]), float(self._values[place])
        fall = before - after
        # Until a few are known nobody can say how much they scatter.
        usual = 2 * math.sqrt(2) * scatter(self._values[max(older - 20, 0) : older + 1]) if older >= _FEW - 1 else 0.0
        rises = -fall > max(self._most_rise * abs(before), usual)
        stands = fall == 0 or 0 < fall < self._least * abs(before)
        span = int(self._steps[place] - self._steps[older])
        return self._comparison(place, older, Trend(before, after, 0.0), span, fires=rises or stands)

    def _of_stretches(self, place: int) -> _LossComparison:
        """Compare ever longer stretches until a fall that is large enough could not hide in the scatter."""
        step = int(self._steps[place])
        for doubling in range(_DOUBLINGS + 1):
            span = self._num_steps << doubling
            if step - 2 * span + 1 < self._first_step:
                break
            first, middle = np.searchsorted(self._steps, [step - 2 * span + 1, step - span + 1]).tolist()
            if min(middle - first, place + 1 - middle) < _FEW:
                continue
            seen = trend(self._values[first:middle], self._values[middle : place + 1])
            needed = abs(seen.before) * self._needed(span)
            certain = _CERTAIN * seen.noise
            rises = -seen.fall > max(self._most_rise * abs(seen.before), certain) and self._is_high(seen, first, span)
            if rises or needed >= 2 * certain:
                fires = rises or seen.fall + certain < needed or seen.fall == needed == 0
                return self._comparison(place, middle - 1, seen, span, fires=fires)
        return self._comparison(place, place, Trend(math.nan, math.nan, math.nan), self._num_steps, fires=False)

    def _needed(self, span: int) -> float:
        """Return the share by which the loss must fall in so many steps."""
        return 1.0 - math.pow(1 - self._least, span / self._num_steps)

    def _comparison(self, place: int, against: int, seen: Trend, span: int, *, fires: bool) -> _LossComparison:
        converged = seen.before == 0 or (self._first > 0 and abs(seen.after) < _CONVERGED * self._first)
        is_mean = place - against > 1 or self._mode is ModeKeys.EVAL
        needed = 100 * (self._needed(span) if is_mean else self._least)
        step, earlier = int(self._steps[place]), int(self._steps[against])
        return _LossComparison(step, fires and not converged, seen, span, earlier, needed, self._mode, is_mean)
