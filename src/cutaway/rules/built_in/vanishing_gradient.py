"""VanishingGradient: gradients too small to learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cutaway.rules.arguments import Number
from cutaway.rules.judgement import Judgement
from cutaway.rules.network import SeenNetwork
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import selected
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["VanishingGradient"]


@dataclass(eq=False, repr=False, kw_only=True)
class VanishingGradient(Rule):
    """Gradients are so small that the layers they belong to no longer learn.

    What it sees:
        The mean of the absolute values of a gradient is below `threshold` at a step. A layer's bias is judged by its
        weight, since the gradient of a bias before a normalisation is zero by arithmetic. A gradient that holds NaN or
        infinity is ExplodingTensor's matter.

    Why it matters:
        An update in proportion to such a gradient does not change the weights. Often the first layers of a deep
        network stand still while the last ones learn, and the loss looks fine for a while.

    What to try:
        Where there is sigmoid or tanh between the layers, put ReLU in its place: each of them shrinks the gradient.
        Where there is ReLU already, look for dead units. In both, add normalisation or skip connections, or start from
        weights with a larger spread (He initialisation before ReLU, Xavier before sigmoid and tanh).

    Needs:
        Statistics of the collection `gradients`, which the hook keeps of every step, or its tensors in full.

    Parameters:
        threshold: the mean absolute gradient below which the rule fires.
    """

    threshold: Number = Number(1e-7, above=0)

    @classmethod
    def advice(cls, network: SeenNetwork) -> str:
        """Name the activations that there are."""
        rest = "add normalisation or skip connections, or start from weights with a larger spread"
        if network.saturating:
            names = " and ".join(network.saturating)
            return f"Put ReLU in place of {names} between the layers, {rest} (Xavier initialisation)."
        if network.open:
            names = " and ".join(network.open)
            return (
                f"The activations are {names} already, which shrink no gradient where they let it through. Look for "
                'layers whose units are dead (`include_collections=["relu_outputs"]` shows them), '
                f"{rest} (He initialisation)."
            )
        return ""

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the mean absolute value of every gradient with the threshold."""
        gradients = _telling(selected(reader, ["gradients"]))
        for block in reader.statistics_blocks(gradients, start, stop):
            yield self._judged(block)

    def _judged(self, block: StatisticsBlock) -> Judgement:
        size = block.mean_abs

        def message(tensor: int, step: int) -> str:
            return (
                f"{block.names[tensor]} has vanished: its mean absolute value at step {block.steps[step]} is "
                f"{size[tensor, step]:.2g}, below {self.threshold:g}."
            )

        fires = (size < self.threshold) & (block["nonfinite"] == 0)
        return Judgement(block.names, block.steps, fires, size, self.threshold, message)


def _telling(gradients: list[str]) -> list[str]:
    """Leave out the biases of layers that have a weight too."""
    known = set(gradients)
    return [
        name for name in gradients if not name.endswith("bias") or f"{name.removesuffix('bias')}weight" not in known
    ]
