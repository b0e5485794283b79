"""LearningRateTooHigh: updates so large that the loss cannot come down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.update_ratios import LearningRateRule, Updates

__all__ = ["LearningRateTooHigh"]

# So many times its first value is a loss that large steps have thrown up; below this share of it, it has recovered.
_THROWN_UP = 3.0
_RECOVERED = 0.8


@dataclass(eq=False, repr=False, kw_only=True)
class LearningRateTooHigh(LearningRateRule):
    """The weights change so much in every step that the loss does not come down.

    What it sees:
        The change of each weight tensor in a step is divided by its size (both as l2 norms). The rule fires where the
        median of that share, over the tensors that change and then over `window` training steps, is above `high`, and
        the mean loss of the second half of these steps is not below that of the first half by more than chance
        explains (two standard errors). At the beginning of a run ten steps are enough where the loss was thrown up
        meanwhile, to three times its first value at least, and has not come clearly below that again: afterwards the
        weights may be so large that nothing moves. A loss below a thousandth of its first value is not judged.

    Why it matters:
        Each step overshoots what the gradient can know. The loss jumps about or climbs, and ends in NaN, or in units
        that never fire again.

    What to try:
        Divide the learning rate by ten until the loss falls; a share of about 0.001 in a step is usual. Warm the rate
        up over the first steps, or clip the gradients.

    Needs:
        Statistics of the collection `weights`, and a loss of training steps.

    Parameters:
        high: the share of itself by which a weight tensor may change in a step.
        window: over how many training steps.
    """

    severity = "error"
    # A rate that is far too high does its harm in the first steps; afterwards the weights are so large that nothing
    # moves. Large updates alone are no harm then: those of Adam are, before it knows the size of the gradients.
    least = 10

    high: Number = Number(1e-1, above=0)
    window: Whole = Whole(50, least=4)

    def judge_updates(self, seen: Updates) -> Judgement:
        """Compare the updates with `high`, where the loss did not fall."""

        def message(i: int) -> str:
            return (
                f"The learning rate is too high: in the training steps from {seen.since[i]} to {seen.steps[i]} the "
                f"weights changed by {seen.ratio[i]:.2g} of themselves in each, above {self.high:g}, and the loss "
                f"did not fall by more than its scatter: {seen.before[i]:.4g} in the first half, "
                f"{seen.after[i]:.4g} in the second.{seen.rate_in_words(i)}"
            )

        first = abs(seen.first_loss)
        thrown_up = (seen.peak > _THROWN_UP * first) & (seen.after > _RECOVERED * first)
        fires = (seen.ratio > self.high) & ~seen.converged & np.where(seen.whole, ~seen.fell(), thrown_up)
        return Judgement.of_one("", seen.steps, fires, seen.ratio, self.high, message, seen.evidence)
