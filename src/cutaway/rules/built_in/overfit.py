"""Overfit: a model that gets better on its training data and worse on others."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np

from cutaway.rules.arguments import Number, Pattern, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurves
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import selected
from cutaway.rules.trends import roughness
from cutaway.rules.validation_rounds import ValidationRound, ValidationRounds
from cutaway.tensors.reader import TensorReader

__all__ = ["Overfit"]

# Over so many rounds the median is taken: one that is worse than those around it happens to every model.
_ROUNDS = 3
# From so many rounds it is known how much they scatter, and this much of it a rise must exceed.
_KNOWN = 20
_SCATTER = 3.0


@dataclass(eq=False, repr=False, kw_only=True)
class Overfit(Rule):
    """The loss on validation data is far above the loss on training data, and rises.

    What it sees:
        A round is a stretch of EVAL steps between training steps. Its mean validation loss is compared with the mean
        training loss since the round before. The rule fires where the validation loss is above the training loss by
        more than `ratio_threshold` of it in `patience` rounds one after the other. Upstream asks for no more; but that
        holds for almost every well trained model. So here the validation loss must also have risen: the median of
        the last three rounds is above the lowest such median by more than `ratio_threshold` of it, and by more than
        three times what rounds scatter.

    Why it matters:
        From here on the model learns its training data by heart. What it gains there it loses on everything else.

    What to try:
        Go back to the checkpoint with the lowest validation loss, and stop there next time. To get further: more
        data or augmentation, dropout, weight decay, or a smaller model.

    Needs:
        Losses of TRAIN and EVAL steps: register the loss, and call `hook.set_mode` before training and validation.

    Parameters:
        tensor_regex: a regular expression that finds the losses; by default those of the collection `losses`.
        start_step: rounds that end before this step are not judged.
        patience: for how many rounds one after the other it must hold.
        ratio_threshold: how far the validation loss may be above the training loss, as a share of it, and above its
            own lowest.
    """

    rest = 20  # its steps are rounds

    tensor_regex: Pattern = Pattern()
    start_step: Whole = Whole(0)
    patience: Whole = Whole(1, least=1)
    ratio_threshold: Number = Number(0.1, least=0)

    def reset(self) -> None:
        """Forget the rounds."""
        self._curves, self._rounds = LossCurves(), ValidationRounds()
        self._gaps: dict[str, _OverfitTracker] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Judge the rounds that are known by now."""
        tensors = None if self.tensor_regex is None else selected(reader, tensor_regex=self.tensor_regex)
        for name, rounds in self._rounds.read(self._curves.read(reader, start, stop, tensors)).items():
            gap = self._gaps.setdefault(name, _OverfitTracker(self.ratio_threshold))
            seen = [gap.see(one) for one in rounds if one.step >= self.start_step]
            if seen:
                yield self._judged(name, seen)

    def _judged(self, name: str, seen: list[_RoundVerdict]) -> Judgement:
        def message(i: int) -> str:
            one = seen[i]
            lasting = "" if self.patience == 1 else f", for {one.lasting} rounds"
            return (
                f"The model overfits: at step {one.step} the mean of {name} is {one.validation:.4g} in validation, "
                f"{one.ratio + 1:.3g} times its {one.training:.4g} in training{lasting}. The validation loss has "
                f"risen by {one.risen:.0%} since it was lowest, around step {one.best_step}."
            )

        return Judgement.of_one(
            name,
            [one.step for one in seen],
            [one.lasting >= self.patience for one in seen],
            [one.ratio for one in seen],
            self.ratio_threshold,
            message,
            lambda i: {
                "validation_loss": seen[i].validation,
                "training_loss": seen[i].training,
                "risen": seen[i].risen,
                "best_step": seen[i].best_step,
            },
        )


class _RoundVerdict(NamedTuple):
    """What one round shows; `lasting` counts the rounds up to it that overfit."""

    step: int
    validation: float
    training: float
    ratio: float
    risen: float
    best_step: int
    lasting: int


class _OverfitTracker:
    """The rounds of one loss so far."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._last: deque[float] = deque(maxlen=_KNOWN)
        self._lowest, self._best_step = math.inf, -1
        self._lasting = 0

    def see(self, one: ValidationRound) -> _RoundVerdict:
        """Take in a round."""
        ratio = (one.validation - one.training) / abs(one.training) if one.training else math.nan
        if math.isfinite(one.validation):
            self._last.append(one.validation)
        rise = self._rise(one.step)
        risen = rise / abs(self._lowest) if self._lowest else 0.0
        rises = rise > _SCATTER * roughness(np.array(self._last)) and risen > self._threshold
        is_over = ratio > self._threshold and rises
        self._lasting = self._lasting + 1 if is_over else 0
        return _RoundVerdict(one.step, one.validation, one.training, ratio, risen, self._best_step, self._lasting)

    def _rise(self, step: int) -> float:
        """Return by how much the last rounds are above the lowest ones."""
        if len(self._last) < _ROUNDS:
            return 0.0
        middle = median(list(self._last)[-_ROUNDS:])
        if middle < self._lowest:
            self._lowest, self._best_step = middle, step
        return middle - self._lowest
