"""What the rules about the learning rate share: they judge how far the weights move beside what the loss does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from cutaway.rules.arguments import whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.update_ratios import UpdateRatios, Updates
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial

__all__ = ["LearningRateRule"]


class LearningRateRule(Rule):
    """Judges the updates of `window` training steps; at the beginning of a run those of `least` of them."""

    def __init__(
        self, base_trial: Trial | None, action_str: str | None, window: int | str, least: int | None = None
    ) -> None:
        super().__init__(base_trial, action_str)
        self.window = whole(window, "window", least=4)
        self._updates = UpdateRatios(self.window, self.window if least is None else least)

    @abstractmethod
    def judge_updates(self, seen: Updates) -> Judgement:
        """Say at which steps the weights moved too much or too little."""

    def reset(self) -> None:
        """Forget the steps."""
        self._updates.reset()

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Judge the steps that have a whole window behind them."""
        seen = self._updates.read(reader, start, stop)
        if seen is not None:
            yield self.judge_updates(seen)
