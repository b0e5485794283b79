"""ExplodingTensor: NaN and infinities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cutaway.arrays import BoolArray
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import Flag, Pattern, Words
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import SCALE, in_collection, saved_places, selected, value_at
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["ExplodingTensor"]

# Halved so often, the scale of a GradScaler has gone from its first value to less than one.
OVERFLOWS = 20


@dataclass(eq=False, repr=False, kw_only=True)
class ExplodingTensor(Rule):
    """A tensor holds values that are not numbers any more: NaN or infinity.

    What it sees:
        A tensor has at least one NaN or infinite value at a step. Of several tensors in which this begins at the same
        step, the finding names activations and losses first (in the order of the forward pass), then gradients, then
        weights: the first named is the nearest to the cause. With mixed precision (a GradScaler is registered) the
        updates of gradients that overflow are skipped and the scale is halved, so these count only after more than
        20 steps in a row.

    Why it matters:
        Once a weight is NaN, every later loss and gradient is too. The run only costs time from here on; what was
        learned before is in the last checkpoint.

    What to try:
        Look at the samples of this step first: one broken input suffices. Then lower the learning rate or warm it up,
        clip gradients (`torch.nn.utils.clip_grad_norm_`), and look for a logarithm, a division or a square root of
        zero in the loss. With mixed precision, use bfloat16, or keep the loss in float32.

    Needs:
        Statistics of the tensors, which the hook keeps of every step, or the tensors in full; activations where they
        are included. Statistics count NaN and infinities together: `only_nan` needs the tensors in full and judges
        only steps that have them, as `SaveConfig(when_nan=...)` saves them.

    Parameters:
        collection_names: collections to look at; with neither these nor `tensor_regex`, all tensors.
        tensor_regex: a regular expression for further tensors to look at.
        only_nan: fire at NaN only, not at infinities.
    """

    severity = "error"

    collection_names: Words = Words()
    tensor_regex: Pattern = Pattern()
    only_nan: Flag = Flag(default=False)

    def reset(self) -> None:
        """Forget whether a NaN was found."""
        self._found_nan = False

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Look for values that are not finite, in the most telling tensors first."""
        forms, gradients, trained = self._ranked(reader)
        # With mixed precision the scaler skips the updates of gradients that overflow.
        patience = OVERFLOWS if SCALE in reader.scalar_names() else 0
        blocks = list(reader.statistics_blocks(forms, start, stop))
        fires = [block["nonfinite"] > 0 for block in blocks]
        for block in reader.statistics_blocks(gradients, start, stop, before=patience):
            blocks.append(block)
            fires.append(_lasting(block["nonfinite"] > 0, patience))
        rest = list(reader.statistics_blocks(trained, start, stop))
        blocks += rest
        fires += [block["nonfinite"] > 0 for block in rest]
        if self.only_nan:
            fires = self._with_nan(reader, blocks, fires)
        for block, where in zip(blocks, fires, strict=True):
            yield self._judged(block, where)

    def _ranked(self, reader: TensorReader) -> list[list[str]]:
        """Return the tensors to look at: activations and losses, gradients, then what is trained."""
        if self.collection_names or self.tensor_regex is not None:
            names = selected(reader, self.collection_names, self.tensor_regex)
        else:
            names = list(reader.tensor_names())
        if not names:
            message = "needs statistics of tensors; this run has none so far."
            raise InsufficientInformationForRuleInvocation(message)
        gradients = set(in_collection(reader, "gradients"))
        trained = {
            name for kind in ("weights", "biases", "optimizer_variables") for name in in_collection(reader, kind)
        }
        ranked: list[list[str]] = [[], [], []]
        for name in names:
            ranked[1 if name in gradients else 2 if name in trained else 0].append(name)
        return ranked

    def _with_nan(
        self, reader: TensorReader, blocks: list[StatisticsBlock], nonfinite: list[BoolArray]
    ) -> list[BoolArray]:
        """Keep of what is not finite that which the full values show to be NaN."""
        found: list[BoolArray] = []
        unknown: list[tuple[int, str]] = []
        for block, sick in zip(blocks, nonfinite, strict=True):
            nan, known = _looked_up(reader, block, sick)
            found.append(nan)
            unknown += [(int(block.steps[column]), block.names[row]) for row, column in np.argwhere(sick & ~known)]
        if any(nan.any() for nan in found):
            self._found_nan = True
        elif unknown and not self._found_nan and max(reader.steps(), default=-1) < min(unknown)[0]:
            step, name = min(unknown)
            raise InsufficientInformationForRuleInvocation(
                f"needs {name!r} in full to tell NaN from infinity: it is not finite at step {step}, and no tensor was "
                "saved since.",
                hint="Give the hook `SaveConfig(when_nan=[...])`, or leave `only_nan` out.",
            )
        return found

    def _judged(self, block: StatisticsBlock, fires: BoolArray) -> Judgement:
        first = block.fresh
        count, size, steps = block["nonfinite"][:, first:], block["size"][:, first:], block.steps[first:]

        def message(tensor: int, step: int) -> str:
            many = f"{count[tensor, step]:.0f} of its {size[tensor, step]:.0f} values are"
            many = many if size[tensor, step] > 1 else "its value is"
            told = "not finite, NaN among them" if self.only_nan else "NaN or infinite"
            return f"{block.names[tensor]} has exploded at step {steps[step]}: {many} {told}."

        def evidence(tensor: int, step: int) -> dict[str, Any]:
            return {"nonfinite": int(count[tensor, step]), "size": int(size[tensor, step])}

        return Judgement(block.names, steps, fires[:, first:], count, 0.0, message, evidence)


def _lasting(sick: BoolArray, patience: int) -> BoolArray:
    """Return where it has been so for more than `patience` steps in a row."""
    if not patience:
        return sick
    padded = np.pad(sick, ((0, 0), (patience, 0)))
    return np.asarray(sliding_window_view(padded, patience + 1, axis=1).all(axis=2), bool)


def _looked_up(reader: TensorReader, block: StatisticsBlock, sick: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return where full values hold a NaN, and where there are full values; only sick places are looked at."""
    nan, known = np.zeros_like(sick), np.zeros_like(sick)
    for column in saved_places(reader, block.steps):
        for row in np.flatnonzero(sick[:, column]).tolist():
            value = value_at(reader, block.names[row], int(block.steps[column]))
            if value is not None:
                known[row, column], nan[row, column] = True, bool(np.isnan(value).any())
    return nan, known
