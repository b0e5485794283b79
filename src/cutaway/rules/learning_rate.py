"""What the rules about the learning rate share: they judge how far the weights move beside what the loss does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from cutaway.rules.arguments import Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.update_ratios import UpdateRatios, Updates
from cutaway.tensors.reader import TensorReader

__all__ = ["LearningRateRule"]


class LearningRateRule(Rule):
    """Judges the updates of `window` training steps; at the beginning of a run those of `least` of them."""

    window: Whole
    least: ClassVar[int | None] = None  # by default a whole window

    @abstractmethod
    def judge_updates(self, seen: Updates) -> Judgement:
        """Say at which steps the weights moved too much or too little."""

    def reset(self) -> None:
        """Forget the steps."""
        self._updates = UpdateRatios(self.window, self.least or self.window)

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Judge the steps that have a whole window behind them."""
        seen = self._updates.read(reader, start, stop)
        if seen is not None:
            yield self.judge_updates(seen)
