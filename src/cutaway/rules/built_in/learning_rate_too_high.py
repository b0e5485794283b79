"""LearningRateTooHigh: updates so large that the loss cannot come down."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.update_ratios import LearningRateRule, Updates

__all__ = ["LearningRateTooHigh"]


@dataclass(eq=False, repr=False, kw_only=True)
class LearningRateTooHigh(LearningRateRule):
    """The weights change so much in every step that the loss does not come down.

    What it sees:
        The change of each weight tensor in a step is divided by its size (both as l2 norms). The rule fires where the
        median of that share, over the tensors that change and then over `window` training steps (at the beginning of
        a run over ten at least), is above `high`, and the mean loss of the second half of these steps is not below
        that of the first half by more than chance explains (two standard errors). A loss below a thousandth of its
        first value is not judged.

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

    # A rate that is far too high does its harm in the first steps; afterwards the weights are so large that nothing
    # moves.
    least = 10

    high: Number = Number(1e-1, above=0)
    window: Whole = Whole(50, least=4)

    def judge_updates(self, seen: Updates) -> Judgement:
        """Compare the updates with `high`, where the loss did not fall."""

        def message(i: int) -> str:
            return (
                f"The learning rate is too high: in the last training steps up to step {seen.steps[i]} the "
                f"weights changed by {seen.ratio[i]:.2g} of themselves in each, above {self.high:g}, and the loss "
                f"did not fall by more than its scatter: {seen.before[i]:.4g} in the first half, "
                f"{seen.after[i]:.4g} in the second.{seen.rate_in_words(i)}"
            )

        fires = (seen.ratio > self.high) & ~seen.fell() & ~seen.converged
        return Judgement.of_one("", seen.steps, fires, seen.ratio, self.high, message, seen.evidence)
