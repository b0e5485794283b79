"""AllZero: tensors that are zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutaway.rules.arguments import Number, Pattern, Words
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import selected
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["AllZero"]

# Not biases: those start at zero in many layers.
DEFAULT = ("gradients", "weights")


@dataclass(eq=False, repr=False, kw_only=True)
class AllZero(Rule):
    """A tensor consists of zeros, all of it or too much of it.

    What it sees:
        The share of exact zeros in a tensor at a step is at least `threshold` percent. Without `collection_names` and
        `tensor_regex` it looks at gradients and weights, not at biases, which often start at zero.

    Why it matters:
        A gradient of zeros teaches its layer nothing: the layer is cut off from the loss, or everything behind it is
        dead. Weights of zeros make all units of a layer the same, and they stay the same.

    What to try:
        Gradients: look for units behind the layer that let nothing through (dead ReLUs, saturated sigmoids), for
        weights or biases that make them so, for a `detach()` or `no_grad()` on the way to the loss, and for a branch
        that this step did not use. Another learning rate does not wake them. Weights: initialise them at random. A
        layer that starts at zero on purpose (the last scale of a residual block, an adapter) shows here at the first
        step only, and is fine.

    Needs:
        Statistics of the tensors, which the hook keeps of every step, or the tensors in full.

    Parameters:
        collection_names: collections to look at; with neither these nor `tensor_regex`, gradients and weights.
        tensor_regex: a regular expression for further tensors to look at.
        threshold: the percentage of zeros from which on the rule fires.
    """

    collection_names: Words = Words()
    tensor_regex: Pattern = Pattern()
    threshold: Number = Number(100, above=0, most=100)

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the share of zeros with the threshold."""
        chosen = self.collection_names if self.collection_names or self.tensor_regex is not None else DEFAULT
        for block in reader.statistics_blocks(selected(reader, chosen, self.tensor_regex), start, stop):
            yield self._judged(block)

    def _judged(self, block: StatisticsBlock) -> Judgement:
        percent = 100 * block.zero_share

        def message(tensor: int, step: int) -> str:
            name, at, size = block.names[tensor], block.steps[step], block["size"][tensor, step]
            if percent[tensor, step] == 100:
                return f"{name} is all zero at step {at}: each of its {size:.0f} values."
            return (
                f"{name} is zero at {percent[tensor, step]:.3g} % of its {size:.0f} values at step {at}; "
                f"{self.threshold:g} % is too much."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            return {"zeros": int(block["zeros"][tensor, step]), "size": int(block["size"][tensor, step])}

        return Judgement(
            block.names, block.steps, percent >= self.threshold, percent, self.threshold, message, evidence
        )
