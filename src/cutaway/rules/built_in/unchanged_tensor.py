"""UnchangedTensor: tensors that stand still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, IndexArray
from cutaway.rules.arguments import Flag, Number, Pattern, Whole, Words
from cutaway.rules.closeness import COMPARED, difference, may_be_close
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import has_gradient, selected
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["UnchangedTensor"]


@dataclass(eq=False, repr=False, kw_only=True)
class UnchangedTensor(Rule):
    """A tensor no longer changes from step to step.

    What it sees:
        The last `num_steps` recorded values of a tensor are all close to one another, as `numpy.allclose` would say of
        each and the one before. Without `collection_names` and `tensor_regex` it looks at the weights that have a
        gradient: weights that are frozen on purpose have none.

    Why it matters:
        A weight that stands still although it has a gradient is not trained. A loss, an input or a prediction that
        stands still means that the same batch comes again, or that the model answers everything alike.

    What to try:
        For weights: see that their gradient is not zero (AllZero says so), that the optimizer was given these
        parameters, that `optimizer.step()` runs, and that the learning rate is not zero. For inputs: see that the
        loader is shuffled and not read anew from its beginning at every step. For losses and predictions: look for
        dead units and for a learning rate that is too low.

    Needs:
        Statistics of the tensors, which the hook keeps of every step, or the tensors in full. Of weights and biases
        the exact norm of the change is known: the rule fires where that proves every value close. Of other tensors it
        compares minimum, maximum, mean, standard deviation and norms; the same values in another order look unchanged
        to it.

    Parameters:
        collection_names: collections to look at; with neither these nor `tensor_regex`, weights that have a gradient.
        tensor_regex: a regular expression for further tensors to look at.
        num_steps: how many recorded values in a row must be close.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: take NaN and infinities as unchanged where as many come again; otherwise they count as a change.
    """

    collection_names: Words = Words()
    tensor_regex: Pattern = Pattern()
    num_steps: Whole = Whole(3, least=2)
    rtol: Number = Number(1e-5, least=0)
    atol: Number = Number(1e-8, least=0)
    equal_nan: Flag = Flag(default=False)

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare every tensor with its value before, and count how often in a row they are close."""
        chosen = bool(self.collection_names) or self.tensor_regex is not None
        names = selected(reader, self.collection_names if chosen else ["weights"], self.tensor_regex)
        for block in reader.statistics_blocks(names, start, stop, before=self.num_steps - 1):
            if len(block) >= self.num_steps:
                yield self._judged(block, None if chosen else has_gradient(reader, block))

    def _judged(self, block: StatisticsBlock, trained: BoolArray | None) -> Judgement:
        close = self._close(block)
        if trained is not None:
            close &= trained[:, :-1]
        pairs = self.num_steps - 1
        steps = block.steps[pairs:]  # each with as many before it; no more than these lie before the window
        alike = np.ones((len(block.names), len(steps)), bool)
        for back in range(pairs):
            alike &= close[:, pairs - 1 - back : len(block) - 1 - back]
        apart = np.full(alike.shape, np.nan)
        at = np.nonzero(alike)
        apart[at] = _distance_to_values_before(block, at[0], at[1] + pairs)

        def message(tensor: int, step: int) -> str:
            since = block.steps[step]
            return (
                f"{block.names[tensor]} has not changed in its last {self.num_steps} recorded values, "
                f"from step {since} to step {steps[step]}."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            exact = not np.isnan(block["change"][tensor, pairs + step])
            return {"since": int(block.steps[step]), "compared": "change" if exact else "statistics"}

        return Judgement(block.names, steps, alike, apart, self.atol, message, evidence)

    def _close(self, block: StatisticsBlock) -> BoolArray:
        """Return for each step but the first whether it is close to the one before."""
        now, past = _StatisticsAtSteps(block, slice(1, None)), _StatisticsAtSteps(block, slice(-1))
        change = now["change"]
        # No single value can have changed by more than the norm of all changes.
        proven = change <= self.atol + self.rtol * np.nan_to_num(past["abs_min"])
        close = may_be_close(now, past, self.rtol, self.atol, equal_nan=self.equal_nan)
        return close & (proven | np.isnan(change))


class _StatisticsAtSteps:
    """The statistics of a block at some of its steps, each put together when it is asked for."""

    def __init__(self, block: StatisticsBlock, steps: slice) -> None:
        self._block = block
        self._steps = steps

    def __getitem__(self, column: str) -> Float64Array:
        return self._block[column][:, self._steps]


def _distance_to_values_before(block: StatisticsBlock, rows: IndexArray, columns: IndexArray) -> Float64Array:
    """Return by how much tensors differ from their values before: the norm of the change where that is known."""
    change = block["change"][rows, columns]
    if not np.isnan(change).any():
        return change
    now, past = ({name: block[name][rows, columns - back] for name in COMPARED} for back in (0, 1))
    return np.where(np.isnan(change), difference(now, past), change)
