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
# A schedule that has come so far down is at its end.
_AT_ITS_END = 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class LearningRateTooLow(LearningRateRule):
    """The weights change so little in every step that the loss stays where it is.

    What it sees:
        The change of each weight tensor in a step is divided by its size (both as l2 norms). The rule fires where the
        median of that share, over the tensors that change and then over `window` training steps, is below `low`,
        while the mean loss of the second half of these steps is not below that of the first half by one percent and
        by more than chance explains (two standard errors). Not judged are a loss below a thousandth of its first
        value, which has converged, and a learning rate that a schedule still raises, or has brought below a tenth of
        its highest; nor weights that a single step has once moved by a hundred times `low`: if they stand now, they
        have died or converged. Frozen tensors, which do not change at all, are left out unless all are.

    Why it matters:
        At this pace the training needs hundreds of times as many steps. In half precision, such changes may even be
        rounded away.

    What to try:
        Multiply the learning rate by ten until the loss falls; a share of about 0.001 in a step is usual. Look also
        for gradients that vanish, for a loss that is divided twice by the batch size, and for parameters that the
        optimizer was not given.

    Needs:
        Statistics of the collection `weights`, and a loss of training steps.

    Parameters:
        low: the share of itself by which a weight tensor should change in a step.
        window: over how many training steps.
    """

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
        fires = (seen.ratio < self.low) & ~seen.fell(_LEAST_FALL) & ~seen.converged & ~scheduled & ~moved
        return Judgement.of_one("", seen.steps, fires, seen.ratio, self.low, message, seen.evidence)
