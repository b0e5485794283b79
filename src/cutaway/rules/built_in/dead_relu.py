"""DeadRelu: layers most of whose ReLUs give nothing but zeros."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.arrays import Float64Array, Int64Array, ObjectArray
from cutaway.rules.arguments import Number, PatternOrDefault
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import saved_places, selected, share_per_channel, value_at
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["DeadRelu"]

DEFAULT_REGEX = ".*relu_output"
COLLECTION = "relu_outputs"
# Where the share of dead units was taken from.
ACTIVITY, VALUES, STATISTICS = "channel activity", "full values", "share of zeros"


@dataclass(eq=False, repr=False, kw_only=True)
class DeadRelu(Rule):
    """Most of the ReLUs of a layer give zero for every sample.

    What it sees:
        A unit (a channel of a convolution, an output of a dense layer) is dead at a step where fewer than
        `threshold_inactivity` percent of its values are positive. The rule fires where more than `threshold_layer`
        percent of the units of a ReLU's output are dead. Where a unit has only a handful of values at a step, as in a
        dense layer with a tiny batch, healthy units look dead too: DeadUnits looks at many steps.

    Why it matters:
        A dead ReLU passes no gradient back, so what feeds it never changes and it stays dead. The layer has lost that
        part of its capacity, often all of it after one update that was too large.

    What to try:
        Lower the learning rate, above all at the beginning; initialise for ReLU (He) and with biases that are not
        negative; normalise the inputs; or use LeakyReLU or GELU, which pass gradients for negative inputs as well.

    Needs:
        Outputs of ReLUs: the collection `relu_outputs`, of which the hook keeps the activity of each channel at every
        step. Of tensors that only `tensor_regex` finds it takes full values where they were saved. From statistics
        alone a lower bound is known, and the rule fires where already that is too much.

    Parameters:
        tensor_regex: a regular expression for outputs of ReLUs; the default also takes the collection `relu_outputs`.
        threshold_inactivity: the percentage of positive values below which a unit is dead.
        threshold_layer: the percentage of dead units in a layer above which the rule fires.
    """

    tensor_regex: PatternOrDefault = PatternOrDefault(DEFAULT_REGEX)
    threshold_inactivity: Number = Number(1.0, above=0, most=100)
    threshold_layer: Number = Number(50.0, least=0, most=100)

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Find the share of dead units of every ReLU's output."""
        collections = [COLLECTION] if self.tensor_regex == DEFAULT_REGEX else []
        for block in reader.statistics_blocks(selected(reader, collections, self.tensor_regex), start, stop):
            yield self._judged(reader, block)

    def _judged(self, reader: TensorReader, block: StatisticsBlock) -> Judgement:
        dead, units, source = self._dead_share(reader, block)

        def message(tensor: int, step: int) -> str:
            name, share, count = block.names[tensor], dead[tensor, step], units[tensor, step]
            which = f"{round(share * count / 100)} of {count} units of {name} are dead"
            which = which if count else f"At least {share:.3g} % of the units of {name} are dead"
            return (
                f"{which} at step {block.steps[step]}: fewer than {self.threshold_inactivity:g} % of their values are "
                f"positive. More than {self.threshold_layer:g} % of a layer is too much."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            count = int(units[tensor, step])
            return {"from": source[tensor, step], **({"units": count} if count else {})}

        fires = dead > self.threshold_layer
        return Judgement(block.names, block.steps, fires, dead, self.threshold_layer, message, evidence)

    def _dead_share(self, reader: TensorReader, block: StatisticsBlock) -> tuple[Float64Array, Int64Array, ObjectArray]:
        """Return the percentage of dead units, how many units there are where that is known, and how we know."""
        dead = self._at_least(block)
        units, source = np.zeros(dead.shape, np.int64), np.full(dead.shape, STATISTICS, object)
        for row, name in enumerate(block.names):
            for places, shares in _recorded(block, name):
                dead[row, places], units[row, places] = self._dead(shares), shares.shape[1]
                source[row, places] = ACTIVITY
        for column in saved_places(reader, block.steps):
            for row in np.flatnonzero(source[:, column] != ACTIVITY).tolist():
                value = value_at(reader, block.names[row], int(block.steps[column]))
                if value is not None and value.size:
                    positive = share_per_channel(value > 0)
                    dead[row, column], units[row, column] = self._dead(positive), len(positive)
                    source[row, column] = VALUES
        return dead, units, source

    def _dead(self, shares: Float64Array) -> Float64Array:
        """Return the percentage of units that are dead; the last axis is that of units."""
        # Runs keep activity in single precision: so compared, it says the same in memory.
        inactive = shares.astype(np.float32) < np.float32(self.threshold_inactivity / 100)
        found: Float64Array = 100 * np.mean(inactive, axis=-1)
        return found

    def _at_least(self, block: StatisticsBlock) -> Float64Array:
        """Return the least percentage of dead units that the share of zeros allows.

        Each unit that is not dead has at least its share of positive values, so no more than so many can be alive.
        """
        with np.errstate(invalid="ignore"):
            positive = np.where(block["max"] <= 0, 0.0, 1 - block.zero_share)
            return np.clip(100 * (1 - positive / (self.threshold_inactivity / 100)), 0, 100)


def _recorded(block: StatisticsBlock, name: str) -> Iterator[tuple[list[int], Float64Array]]:
    """Yield the places of steps with recorded activity, and this as a matrix; those of one length together."""
    whole = block.active(name)
    if whole is not None:
        yield list(range(len(block))), whole
        return
    rows, places = block.active_rows(name), dict[int, list[int]]()
    for place, row in enumerate(rows):
        if row is not None and len(row):
            places.setdefault(len(row), []).append(place)
    for where in places.values():
        yield where, np.array([rows[place] for place in where], np.float64)
