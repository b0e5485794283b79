"""DeadUnits: channels that have not been positive for a long time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import number, whole
from cutaway.rules.judgement import Ints, Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.trial import Trial

__all__ = ["DeadUnits"]

# How many channels a finding names.
MOST_CHANNELS = 20
NOT_TRAINING = (ModeKeys.EVAL.name, ModeKeys.PREDICT.name)

Rows = list[tuple[int, Sequence[float]]]


class DeadUnits(Rule):
    """Some channels of a layer have not been positive once in many training steps.

    What it sees:
        In each of the last `window` recorded training steps, the share of positive values of a channel was at most
        `threshold`. Steps in modes EVAL and PREDICT do not count.

    Why it matters:
        A ReLU that is never positive passes no gradient, so it does not come back. DeadRelu speaks up when most of a
        layer is gone at a step; this rule names the single channels that are gone for good, while the loss still looks
        fine.

    What to try:
        A few dead channels in a wide layer do no harm: they can be pruned. If they grow in number, lower the learning
        rate, clip gradients, look at the biases of the layer before (strongly negative ones kill), or use LeakyReLU or
        GELU.

    Needs:
        The activity of each channel, which the hook keeps where it was asked: `Hook(channel_activity="relu")`.

    Parameters:
        window: how many training steps with recorded activity a channel must be silent for.
        threshold: the share of positive values, from 0 to 1, up to which a channel counts as silent at a step.
    """

    def __init__(
        self,
        base_trial: Trial | None = None,
        action_str: str | None = None,
        *,
        window: int | str = 100,
        threshold: float | str = 0.0,
    ) -> None:
        super().__init__(base_trial, action_str)
        self.window = whole(window, "window", least=1)
        self.threshold = number(threshold, "threshold", least=0, most=1)
        self._silent: dict[str, Ints] = {}  # for how many steps each channel has been silent

    def reset(self) -> None:
        """Forget for how long channels have been silent."""
        self._silent = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Count for every channel the training steps since it was last positive."""
        modes = reader.step_window(start, stop)
        training = set(modes["step"][~np.isin(modes["mode"].astype(str), NOT_TRAINING)].tolist())
        recorded: dict[str, Rows] = {}
        for block in reader.statistics_blocks(in_collection(reader, "layers"), start, stop):
            for name in block.names:
                rows = _rows(block, name, training)
                if rows:
                    recorded[name] = rows
        if not recorded and not self._silent:
            message = (
                'needs the activity of channels, which this run did not record: give `Hook(channel_activity="relu")`.'
            )
            raise InsufficientInformationForRuleInvocation(message)
        for name, rows in recorded.items():
            yield self._judged(name, rows)

    def _judged(self, name: str, rows: Rows) -> Judgement:
        steps = [step for step, _ in rows]
        dead: list[Any] = []  # per step, which channels are dead
        for count, group in groupby((row for _, row in rows), key=len):
            before = self._silent.get(name)
            if before is None or len(before) != count:
                before = np.zeros(count, np.int64)
            silent = _silent_for(np.array(list(group), np.float64) <= self.threshold, before)
            self._silent[name] = silent[-1]
            dead += list(silent >= self.window)

        def message(step: int) -> str:
            told = "have not been positive once"
            if self.threshold:
                told = f"have had at most {100 * self.threshold:g} % positive values at each step"
            channels = np.flatnonzero(dead[step]).tolist()
            return (
                f"{len(channels)} of {len(dead[step])} channels of {name} {told} in {self.window} steps up to step "
                f"{steps[step]}: {_listed(channels)}."
            )

        def evidence(step: int) -> Mapping[str, Any]:
            channels = np.flatnonzero(dead[step]).tolist()
            return {"channels": channels[:MOST_CHANNELS], "dead": len(channels), "of": len(dead[step])}

        value = [float(np.count_nonzero(one)) for one in dead]
        return Judgement.of_one(name, steps, np.array(value) > 0, value, 0.0, message, evidence)


def _rows(block: StatisticsBlock, name: str, training: set[int]) -> Rows:
    """Return the training steps that have the activity of a tensor's channels, each with it."""
    rows = zip(block.steps.tolist(), block.active_rows(name), strict=True)
    return [(step, row) for step, row in rows if row is not None and len(row) and step in training]


def _silent_for(silent: Any, before: Ints) -> Ints:
    """Return for each step (row) and channel for how many steps it has been silent, counting those before."""
    step = np.arange(1, len(silent) + 1)[:, None]
    heard = np.maximum.accumulate(np.where(silent, 0, step), axis=0)
    counted: Ints = step - heard + np.where(heard == 0, before, 0)
    return counted


def _listed(channels: Sequence[int]) -> str:
    more = len(channels) - MOST_CHANNELS
    return f"{', '.join(map(str, channels[:MOST_CHANNELS]))}{f' and {more} more' if more > 0 else ''}"
