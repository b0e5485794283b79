"""TensorVariance: tensors whose values spread too much or too little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import OptionalNumber, Pattern, Words
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import selected
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["TensorVariance"]


@dataclass(eq=False, repr=False, kw_only=True)
class TensorVariance(Rule):
    """The values of a tensor spread more than you allow, or less.

    What it sees:
        The variance of a tensor's finite values at a step (over all of them, divided by their number) is above
        `max_threshold` or below `min_threshold`. Tensors of a single value have no variance and are left out. Without
        `collection_names` and `tensor_regex` it looks at weights.

    Why it matters:
        Activations or gradients whose variance grows from layer to layer explode, those whose variance shrinks vanish.
        Weights whose variance falls to nothing make the units of a layer alike.

    What to try:
        Initialise in proportion to the size of a layer (He for ReLU, Xavier for tanh), normalise inputs and
        activations, and lower the learning rate or the weight decay where the variance runs away during training.

    Needs:
        Statistics of the tensors, which the hook keeps of every step, or the tensors in full; and a threshold: it has
        none of its own, since what is much depends on the tensor.

    Parameters:
        collection_names: collections to look at; with neither these nor `tensor_regex`, weights.
        tensor_regex: a regular expression for further tensors to look at.
        max_threshold: the variance above which the rule fires.
        min_threshold: the variance below which the rule fires.
    """

    collection_names: Words = Words()
    tensor_regex: Pattern = Pattern()
    max_threshold: OptionalNumber = OptionalNumber(least=0)
    min_threshold: OptionalNumber = OptionalNumber(least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._lowest > self._highest:
            raise ConfigurationError(
                "`min_threshold <= max_threshold` must hold, but got "
                f"min_threshold={self._lowest:g}, max_threshold={self._highest:g}."
            )

    @property
    def _highest(self) -> float:
        return np.inf if self.max_threshold is None else self.max_threshold

    @property
    def _lowest(self) -> float:
        return -np.inf if self.min_threshold is None else self.min_threshold

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the variance of every tensor with both thresholds."""
        if self.max_threshold is None and self.min_threshold is None:
            raise InsufficientInformationForRuleInvocation(
                "needs max_threshold or min_threshold: `--param TensorVariance.max_threshold=...`."
            )
        chosen = self.collection_names if self.collection_names or self.tensor_regex is not None else ["weights"]
        for block in reader.statistics_blocks(selected(reader, chosen, self.tensor_regex), start, stop):
            yield self._judged(block)

    def _judged(self, block: StatisticsBlock) -> Judgement:
        with np.errstate(over="ignore"):
            variance = np.where(block["size"] > 1, block["std"] ** 2, np.nan)
        high, low = variance > self._highest, variance < self._lowest

        def bound(tensor: int, step: int) -> tuple[str, float]:
            return ("above", self._highest) if high[tensor, step] else ("below", self._lowest)

        def message(tensor: int, step: int) -> str:
            side, threshold = bound(tensor, step)
            return (
                f"The variance of {block.names[tensor]} at step {block.steps[step]} is {variance[tensor, step]:.3g}, "
                f"{side} {threshold:g}."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            return {"threshold": bound(tensor, step)[1], "mean": float(block["mean"][tensor, step])}

        return Judgement(block.names, block.steps, high | low, variance, np.nan, message, evidence)
