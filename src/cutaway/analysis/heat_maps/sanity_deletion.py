"""Takes the places of samples away in the orders of several maps, and asks the model after each step, in packs.

What is followed is the explained score, as a share of what it was:

- Of an output with classes: the probability of the explained class, averaged over the places of an output that has
  some. Answers outside of 0 to 1 are taken for logits, and their softmax for probabilities. A probability that was
  below chance is a share of chance. Where so much is gone that the model's answer is not finite, as of a mean over no
  words, nothing is left of it.
- Of an output without classes, and of a loss: how far the value moved from where it was, in units of the distance
  between the sample and the baseline alone, plus 1. It begins at 1; a loss that falls goes below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.aims import Aim
from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from cutaway.models.model import Model
from cutaway.tensors.softmax import softmax

__all__ = ["STEPS", "DeletableSamples", "Deletion", "followed_in", "orders"]

STEPS = 16
_LEAST = 1e-12


@dataclass(frozen=True)
class DeletableSamples:
    """Samples whose places can be taken away: a batch as it was given, and what takes the place of one input."""

    arrays: Mapping[str, Array]
    axes: InputAxes
    baseline: Array

    def without(self, samples: Int64Array, gone: BoolArray) -> dict[str, Array]:
        """Return a batch of rows: which sample each one is, and which of its places (rows, places) are gone."""
        axes = self.axes
        gone = gone.reshape(len(samples), *axes.sizes)
        if axes.channel is not None:
            gone = np.expand_dims(gone, axes.channel)
        batch = {name: values[samples] for name, values in self.arrays.items()}
        batch[axes.name] = np.where(gone, self.baseline[samples], batch[axes.name])
        return batch


def orders(maps: Float32Array, random: np.random.Generator) -> Int32Array:
    """Return when each place goes, counted from 0: the highest first. `maps` is (maps, places); ties go by chance."""
    order = np.lexsort((random.random(maps.shape), -maps), axis=-1)
    ranks = np.empty(maps.shape, np.int32)
    np.put_along_axis(ranks, order, np.arange(maps.shape[1], dtype=np.int32)[None], axis=1)
    return ranks


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

    def shares(self, scores: Float64Array, sample: int) -> Float64Array:
        """Return scores of one sample as shares of what its score was."""
        first = float(self.first[sample])
        if self.aim.targets is not None:
            left = np.where(np.isfinite(scores) | (not np.isfinite(first)), scores, 0.0)
            return np.asarray(left / max(first, self.chance), np.float64)
        scale = max(abs(first - float(self.last[sample])), _LEAST * max(1.0, abs(first)))
        return np.asarray(1 + (scores - first) / scale, np.float64)


@dataclass(frozen=True)
class Deletion:
    """What takes places away from one batch, and follows the score; the model gets at most `rows` rows at once."""

    model: Model
    given: DeletableSamples
    followed: Followed
    rows: int
    counter: Counter

    def areas(self, sample: int, ranks: Int32Array) -> Float64Array:
        """Return the deletion AUC of each map of one sample; `ranks` (maps, places) says when each place goes."""
        count, places = ranks.shape
        cuts = np.rint(np.linspace(0, places, STEPS + 1)).astype(np.int64)[1:-1]
        scores = np.empty(count * len(cuts))
        for start in range(0, len(scores), self.rows):
            which = np.arange(start, min(start + self.rows, len(scores)))
            gone = ranks[which // len(cuts)] < cuts[which % len(cuts), None]
            samples = np.full(len(which), sample)
            answer = self.model.predict(self.given.without(samples, gone))[self.followed.aim.output]
            scores[which] = _scores(answer, samples, self.followed.aim, logits=self.followed.logits)
            self.counter.advance(len(which))
        between = self.followed.shares(scores.reshape(count, len(cuts)), sample).sum(axis=1)
        # The whole sample and the baseline alone are the same for every map: asked once.
        ends = self.followed.shares(np.array([self.followed.first[sample], self.followed.last[sample]]), sample).mean()
        return np.asarray((between + ends) / STEPS, np.float64)


def followed_in(model: Model, given: DeletableSamples, aim: Aim, rows: int) -> Followed:
    """Ask the model about the samples as they are and about the baseline alone; return what is followed between."""
    count, places = len(given.baseline), int(np.prod(given.axes.sizes))
    answers: list[list[Array]] = [[], []]
    for start in range(0, count, rows):
        samples = np.arange(start, min(start + rows, count))
        for gone, side in zip((False, True), answers, strict=True):
            batch = given.without(samples, np.full((len(samples), places), gone))
            side.append(model.predict(batch)[aim.output])
    whole, blank = (np.concatenate(side) for side in answers)
    samples = np.arange(count)
    classes = whole.shape[aim.axis] if aim.axis is not None and whole.ndim > 1 else 1
    both = np.concatenate([whole.reshape(-1), blank.reshape(-1)])
    both = both[~np.isnan(both)]
    logits = bool(aim.targets is not None and not ((both >= 0) & (both <= 1)).all())
    first, last = (_scores(answer, samples, aim, logits=logits) for answer in (whole, blank))
    return Followed(aim, logits, 1 / classes, first, last)


def _scores(answer: Array, samples: Int64Array, aim: Aim, *, logits: bool) -> Float64Array:
    """Return the score of each row of an answer; `samples` says which sample each of them is."""
    if aim.targets is None or aim.axis is None:
        return aim.scores(answer, samples, None)
    classes = np.moveaxis(answer, aim.axis, 1).astype(np.float64)
    if logits:
        classes = np.moveaxis(softmax(np.moveaxis(classes, 1, -1)), -1, 1)
    chosen = classes[np.arange(len(classes)), aim.targets[samples]]
    return np.asarray(chosen.reshape(len(chosen), -1).mean(axis=1), np.float64)
