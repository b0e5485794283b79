"""DeadUnits: channels that have not been positive for a long time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.wording import listed

__all__ = ["DeadUnits"]

# How many channels a finding names.
MOST_CHANNELS = 20
NOT_TRAINING = (ModeKeys.EVAL.name, ModeKeys.PREDICT.name)


class _ChannelShares(NamedTuple):
    """The share of positive values per channel (column) at some steps (rows)."""

    steps: Int64Array
    shares: Float64Array


@dataclass(eq=False, repr=False, kw_only=True)
class DeadUnits(Rule):
    """Many channels of a layer have not been positive once in many training steps.

    What it sees:
        A channel is dead where in each of the last `window` recorded training steps its share of positive values was
        at most `threshold`. The rule fires where more than `threshold_layer` percent of the channels of a layer are
        dead. Steps in modes EVAL and PREDICT do not count.

    Why it matters:
        A ReLU that is never positive passes no gradient, so it does not come back. DeadRelu speaks up when most of a
        layer is gone at a step; this rule names the single channels that are gone for good, while the loss still looks
        fine. Some dead channels are normal: a small dense network trained with Adam ends with 5 to 20 percent of them.

    What to try:
        Lower the learning rate or warm it up, clip gradients, look at the biases of the layer before (strongly
        negative ones kill), or use LeakyReLU or GELU. If the model is as good as you need, the layer is wider than it
        has to be: the dead channels can be pruned.

    Needs:
        The activity of each channel. The hook keeps it of ReLUs where the collection `relu_outputs` is included, and
        of activations that are named: `Hook(channel_activity="relu")`.

    Parameters:
        window: how many training steps with recorded activity a channel must be silent for.
        threshold: the share of positive values, from 0 to 1, up to which a channel counts as silent at a step.
        threshold_layer: the percentage of dead channels in a layer above which the rule fires; 0 fires at the first.
    """

    window: Whole = Whole(100, least=1)
    threshold: Number = Number(0.0, least=0, most=1)
    threshold_layer: Number = Number(25.0, least=0, most=100)

    def reset(self) -> None:
        """Forget for how long channels have been silent."""
        self._silent: dict[str, Int64Array] = {}  # for how many steps each channel has been silent

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Count for every channel the training steps since it was last positive."""
        steps = reader.step_window(start, stop)
        training: Int64Array = steps["step"][~np.isin(steps["mode"].astype(str), NOT_TRAINING)]
        recorded = [
            (name, parts)
            for block in reader.statistics_blocks(in_collection(reader, "layers"), start, stop)
            for name in block.names
            if (parts := _recorded(block, name, np.isin(block.steps, training)))
        ]
        if not recorded and not self._silent:
            raise InsufficientInformationForRuleInvocation(
                "needs the activity of channels, which this run has not recorded.",
                hint=(
                    "Add 'relu_outputs' to the hook's "
                    '`include_collections`, or name activations: give `Hook(channel_activity="relu")`.'
                ),
            )
        for name, parts in recorded:
            yield self._judged(name, parts)

    def _judged(self, name: str, parts: Sequence[_ChannelShares]) -> Judgement:
        steps = np.concatenate([part.steps for part in parts])
        dead: list[BoolArray] = []  # per part, which channels (columns) are dead at which steps (rows)
        for part in parts:
            before = self._silent.get(name)
            if before is None or len(before) != part.shares.shape[1]:
                before = np.zeros(part.shares.shape[1], np.int64)
            # Runs keep activity in single precision: so compared, it says the same in memory.
            silent = part.shares.astype(np.float32) <= np.float32(self.threshold)
            gone, self._silent[name] = _dead(silent, before, self.window)
            dead.append(gone)
        percent = np.concatenate([100 * part.mean(axis=1) for part in dead])

        def channels(step: int) -> tuple[list[int], int]:
            row = next(islice(chain.from_iterable(dead), step, None))
            return np.flatnonzero(row).tolist(), len(row)

        def message(step: int) -> str:
            told = "have not been positive once"
            if self.threshold:
                told = f"have had at most {100 * self.threshold:g} % positive values at each step"
            gone, of = channels(step)
            which = f": {listed(gone, MOST_CHANNELS)}" if len(gone) < of else ""
            return (
                f"{len(gone)} of {of} channels of {name} {told} in the {self.window} steps up to step {steps[step]}"
                f"{which}."
            )

        def evidence(step: int) -> Mapping[str, Any]:
            gone, of = channels(step)
            return {"channels": gone[:MOST_CHANNELS], "dead": len(gone), "of": of}

        fires = percent > self.threshold_layer
        return Judgement.of_one(name, steps, fires, percent, self.threshold_layer, message, evidence)


def _recorded(block: StatisticsBlock, name: str, training: BoolArray) -> list[_ChannelShares]:
    """Return the activity of a tensor's channels in training steps: parts of as many channels each."""
    whole = block.active(name)
    if whole is not None:
        return [_ChannelShares(block.steps[training], whole[training])] if whole.size and training.any() else []
    rows = zip(block.steps.tolist(), block.active_rows(name), training.tolist(), strict=True)
    kept = [(step, row) for step, row, counts in rows if counts and row is not None and len(row)]
    return [
        _ChannelShares(np.array([step for step, _ in part]), np.array([row for _, row in part], np.float64))
        for part in (list(group) for _, group in groupby(kept, key=lambda one: len(one[1])))
    ]


def _dead(silent: BoolArray, before: Int64Array, window: int) -> tuple[BoolArray, Int64Array]:
    """Return which channels are dead at which steps, and for how many steps each is silent after the last.

    `before` says for how many they were silent before the first.
    """
    some = silent.any(axis=0)  # most channels never are
    step = np.arange(1, len(silent) + 1)[:, None]
    heard = np.maximum.accumulate(np.where(silent[:, some], 0, step), axis=0)
    counted = step - heard + np.where(heard == 0, before[some], 0)
    dead, after = np.zeros_like(silent), np.zeros_like(before)
    dead[:, some], after[some] = counted >= window, counted[-1]
    return dead, after
