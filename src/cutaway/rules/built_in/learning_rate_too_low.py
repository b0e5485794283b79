"""LearningRateTooLow: updates too small to bring the loss down."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.update_ratios import LearningRateRule, Updates

__all__ = ["LearningRateTooLow"]

# The share by which the loss falls in half a window of a training that gets on.
_LEAST_FALL = 0.01
# Where a single step ever moved the weights by so many times `low`, the rate is not what keeps them now.
_MOVED = 100.0
# A loss that is by so much below where it began has learned; what keeps it now is something else.
_LEARNED = 0.1
# A schedule that has come so far down is at its end.
_AT_ITS_END = 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class LearningRateTooLow(LearningRateRule):
    """The weights change so little in every step that the loss stays where it is.

    What it sees:
        The change of each weight tensor in a step is divided by its size (both as l2 norms). The rule fires where the
        median of that share, over the tensors that change and then over `window` training steps, is below `low`,
        while the mean loss of the second half of these steps is not below that of the first half by one percent and
        by more than chance explains (two standard errors). Weights whose gradient is zero or has vanished (a mean
        absolute value below 1e-7) are left out: no rate moves a dead network, and AllZero, DeadRelu and
        VanishingGradient name it. Not judged are a loss that has come down by a tenth since the first five steps, which
        has learned; a learning rate that a schedule still raises, or has brought below a tenth of its highest; and
        weights that a single step has once moved by a hundred times `low`: if they stand now, they have died or
        converged. Frozen tensors, which do not change at all, are left out; where none changes although the rate is
        not zero, the optimizer lacks them, and UnchangedTensor says so.

    Why it matters:
        At this pace the training needs hundreds of times as many steps. In half precision, such changes may even be
        rounded away.

    What to try:
        Multiply the learning rate by ten until the loss falls; a share of about 0.001 in a step is usual. Look also
        for a schedule that begins too low, and for a loss that is divided twice by the batch size.

    Needs:
        Statistics of the collection `weights`, and a loss of training steps; those of `gradients` to tell a dead
        network.

    Parameters:
        low: the share of itself by which a weight tensor should change in a step.
        window: over how many training steps.
    """

    severity = "error"
    # A gradient below this has vanished: what VanishingGradient takes for it.
    vanished = 1e-7

    low: Number = Number(1e-5, above=0)
    window: Whole = Whole(50, least=4)

    def judge_updates(self, seen: Updates) -> Judgement:
        """Compare the updates with `low`, where the loss stays where it is."""

        def message(i: int) -> str:
            return (
                f"The learning rate is too low: in the {self.window} training steps up to step {seen.steps[i]} the "
                f"weights changed by {seen.ratio[i]:.2g} of themselves in each, below {self.low:g}, and the loss "
                f"hardly moved: {seen.before[i]:.4g} in the first half, {seen.after[i]:.4g} in the second."
                f"{seen.rate_in_words(i)}"
            )

        moved = seen.highest_ratio > _MOVED * self.low
        scheduled = (seen.rate > seen.rate_before) | (seen.rate <= _AT_ITS_END * seen.highest_rate)
        scheduled &= seen.highest_rate > 0  # a rate that was never above zero is no schedule
        # A rate of zero moves nothing; else what does not move at all belongs to no optimizer.
        still = (seen.ratio == 0) & ~(seen.rate == 0)
        fires = (seen.ratio < self.low) & ~seen.fell(_LEAST_FALL) & ~seen.came_down(_LEARNED)
        fires &= ~scheduled & ~moved & ~still
        return Judgement.of_one("", seen.steps, fires, seen.ratio, self.low, message, seen.evidence)
