"""WeightUpdateRatio: updates that are far too large or too small for the weights they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, IndexArray, Int64Array
from cutaway.errors import ConfigurationError
from cutaway.rules.arguments import Number, OptionalWhole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import has_gradient, selected
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["WeightUpdateRatio"]


@dataclass(eq=False, repr=False, kw_only=True)
class WeightUpdateRatio(Rule):
    """The weights of a layer change by far too much or by almost nothing in an update.

    What it sees:
        The l2 norm of the change of a weight, divided by the l2 norm of the weight before it (plus `epsilon`), is
        above `large_threshold` or below `small_threshold`. The change is measured since the last statistics, or with
        `num_steps` over as many steps. Left out are weights without a gradient at the step before (frozen on purpose),
        and, for changes that are too large, weights that were all zero before (they have no ratio).

    Why it matters:
        In a healthy training a weight changes by about a thousandth of its size in an update. A change that is many
        times the weight throws away what was learned; one that rounds to nothing learns nothing.

    What to try:
        Too large: lower the learning rate, warm it up, or clip gradients. Too small: look first whether the layer's
        gradients are zero (AllZero, DeadRelu, VanishingGradient say so), for no rate helps then; whether the
        optimizer was given this layer's parameters; whether a schedule has brought the rate to zero; then raise it.

    Needs:
        Statistics of the collection `weights`, which the hook keeps of every step, or its tensors in full; those of
        `gradients` to tell frozen layers. The norm of each single change is known. Over several steps it is bounded:
        the rule fires only where the sum of the single changes is too small, or the difference of the weight's norms
        too large.

    Parameters:
        num_steps: compare with the oldest statistics that are at most so many steps back; by default with the last.
        large_threshold: the ratio above which an update is too large.
        small_threshold: the ratio below which an update is too small.
        epsilon: added to the norm of the weight, against a division by zero.
    """

    num_steps: OptionalWhole = OptionalWhole(least=1)
    large_threshold: Number = Number(10.0, above=0)
    small_threshold: Number = Number(1e-8, least=0)
    epsilon: Number = Number(1e-9, above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.small_threshold >= self.large_threshold:
            raise ConfigurationError(
                "`small_threshold < large_threshold` must hold, but got "
                f"small_threshold={self.small_threshold:g}, large_threshold={self.large_threshold:g}."
            )

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare every weight's change with its size before."""
        weights = selected(reader, ["weights"])
        for block in reader.statistics_blocks(weights, start, stop, before=self.num_steps or 1):
            if len(block) > 1:
                yield self._judged(block, has_gradient(reader, block))

    def _judged(self, block: StatisticsBlock, trained: BoolArray) -> Judgement:
        now = np.arange(max(block.fresh, 1), len(block))
        before = self._compared_with(block.steps, now)
        size, trained = block["l2"][:, before], trained[:, before]
        with np.errstate(over="ignore", invalid="ignore"):
            least, most = (change / (size + self.epsilon) for change in _change(block, now, before))
        large = trained & (least > self.large_threshold) & (size > 0)
        small = trained & (most < self.small_threshold)
        value = np.where(large, least, most)
        steps = block.steps[now]

        def message(tensor: int, step: int) -> str:
            name, past = block.names[tensor], block.steps[before[step]]
            if large[tensor, step]:
                told = f"more than {self.large_threshold:g} times its own size"
            else:
                told = f"less than {self.small_threshold:g} of its own size"
            return (
                f"{name} has changed by {told} between step {past} and step {steps[step]}: "
                f"the ratio is {value[tensor, step]:.2g}."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            return {
                "threshold": self.large_threshold if large[tensor, step] else self.small_threshold,
                "since": int(block.steps[before[step]]),
                "l2_before": float(size[tensor, step]),
                "l2": float(block["l2"][tensor, now[step]]),
            }

        return Judgement(block.names, steps, large | small, value, self.large_threshold, message, evidence)

    def _compared_with(self, steps: Int64Array, now: IndexArray) -> IndexArray:
        """Return the place of the step that each is compared with: the last, or the oldest that is near enough."""
        if self.num_steps is None:
            return now - 1
        return np.minimum(np.searchsorted(steps, steps[now] - self.num_steps), now - 1)


def _change(block: StatisticsBlock, now: IndexArray, before: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the least and the most that the weights can have changed by between two steps."""
    change, norm = block["change"], block["l2"]
    if (now - before == 1).all():
        return change[:, now], change[:, now]
    # Every second sum is of one stretch; those in between are of nothing. The last stretch needs a place to end at.
    padded = np.concatenate([change, np.zeros((len(change), 1))], axis=1)
    most = np.add.reduceat(padded, np.column_stack([before + 1, now + 1]).ravel(), axis=1)[:, ::2]
    least = np.where(now - before == 1, change[:, now], np.abs(norm[:, now] - norm[:, before]))
    return least, most
