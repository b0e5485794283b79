"""What is followed while places of a sample are taken away: the explained score, as a share of what it was.

- Of an output with classes: the probability of the explained class, averaged over the places of an output that has
  some. Answers outside of 0 to 1 are taken for logits, and their softmax for probabilities. A probability that was
  below chance is a share of chance. Where so much is gone that the model's answer is not finite, as of a mean over no
  words, nothing is left of it.
- Of an output without classes, and of a loss: how far the value moved from where it was, in units of the distance
  between the sample and the baseline alone, plus 1. It begins at 1; a loss that falls goes below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.heat_maps.aims import Aim
from cutaway.arrays import Array, Float64Array, Int64Array

__all__ = ["Followed", "follow"]


_LEAST = 1e-12


@dataclass(frozen=True)
class Followed:
    """What is followed of each sample: `first` where it is whole, `last` where all of it is taken away.

    `logits` says whether answers go through a softmax; `chance` is one of as many as there are classes.
    """

    aim: Aim
    logits: bool
    chance: float
    first: Float64Array
    last: Float64Array

    def scores(self, answer: Array, samples: Int64Array) -> Float64Array:
        """Return the score of each row of an answer; `samples` says which sample each of them is."""
        return _scores(answer, samples, self.aim, logits=self.logits)

    def shares(self, scores: Float64Array, sample: int) -> Float64Array:
        """Return scores of one sample as shares of what its score was."""
        first = float(self.first[sample])
        if self.aim.targets is not None:
            left = np.where(np.isfinite(scores) | (not np.isfinite(first)), scores, 0.0)
            return np.asarray(left / max(first, self.chance), np.float64)
        scale = max(abs(first - float(self.last[sample])), _LEAST * max(1.0, abs(first)))
        return np.asarray(1 + (scores - first) / scale, np.float64)


def follow(aim: Aim, whole: Array, blank: Array) -> Followed:
    """Return what is followed, from the answers to the samples as they are and to the baseline alone."""
    samples = np.arange(len(whole))
    classes = whole.shape[aim.axis] if aim.axis is not None and whole.ndim > 1 else 1
    both = np.concatenate([whole.reshape(-1), blank.reshape(-1)])
    both = both[~np.isnan(both)]
    logits = bool(aim.targets is not None and not ((both >= 0) & (both <= 1)).all())
    first, last = (_scores(answer, samples, aim, logits=logits) for answer in (whole, blank))
    return Followed(aim, logits, 1 / classes, first, last)


def _scores(answer: Array, samples: Int64Array, aim: Aim, *, logits: bool) -> Float64Array:
    if aim.targets is None or aim.axis is None:
        return aim.scores(answer, samples, None)
    classes = np.moveaxis(answer, aim.axis, 1).astype(np.float64)
    if logits:
        classes = np.exp(classes - classes.max(axis=1, keepdims=True))
        classes /= classes.sum(axis=1, keepdims=True)
    chosen = classes[np.arange(len(classes)), aim.targets[samples]]
    return np.asarray(chosen.reshape(len(chosen), -1).mean(axis=1), np.float64)
