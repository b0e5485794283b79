"""TreeDepth: trees that grow deeper than they should."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Float64Array
from cutaway.rules.arguments import Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import lacking, saved_places, value_at
from cutaway.tensors.reader import TensorReader

__all__ = ["TreeDepth"]

# The nodes of all trees of a model, each by its number within its tree: the name that XGBoost's hooks give them.
_NODES = r"(^|/)trees/Node$"


@dataclass(eq=False, repr=False, kw_only=True)
class TreeDepth(Rule):
    """A tree of the model is deeper than `depth`.

    What it sees:
        The binary logarithm of the largest node number in the trees of a step is above `depth`: numbered level by
        level, from 0 at the root, a tree whose deepest level is `d` has node numbers up to 2^(d+1) - 2.

    Why it matters:
        Every level doubles the leaves. Deep trees split on what only a few samples show: they learn the training set
        by heart, and are slow to evaluate.

    What to try:
        Lower `max_depth`, raise `min_child_weight` or `gamma`, or grow more trees with a smaller learning rate.

    Needs:
        Node numbers that a hook saved in full under the name `trees/Node`.

    Parameters:
        depth: the depth that trees may have.
    """

    depth: Whole = Whole(4)

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the depth of the deepest tree with the bound at every saved step."""
        names = list(reader.tensor_names(regex=_NODES))
        if not names:
            raise lacking(reader, tensor_regex=_NODES, full=True)
        window = reader.step_window(start, stop)["step"]
        saved: list[int] = window[saved_places(reader, window)].tolist()
        for name in names:
            largest = {step: found for step in saved if (found := _largest(reader, name, step)) >= 1}
            if largest:
                yield self._judgement(name, list(largest), np.array(list(largest.values())))

    def _judgement(self, name: str, steps: list[int], largest: Float64Array) -> Judgement:
        depths = np.log2(largest)

        def message(i: int) -> str:
            return (
                f"The trees in {name} are deep at step {steps[i]}: the largest node is number {largest[i]:.0f}, which "
                f"makes a depth of {depths[i]:.3g}, more than {self.depth:g}."
            )

        return Judgement.of_one(
            name, steps, depths > self.depth, depths, self.depth, message, lambda i: {"node": int(largest[i])}
        )


def _largest(reader: TensorReader, name: str, step: int) -> float:
    """Return the largest node number; 0 where there is none."""
    value = value_at(reader, name, step)
    if value is None or value.dtype.kind not in "iuf" or not value.size:
        return 0.0
    return float(np.nan_to_num(value.astype(np.float64), posinf=0.0).max())
