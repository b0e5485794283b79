"""Takes the places of samples away in the orders of several maps, and asks the model after each step, in packs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.aims import Aim
from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.analysis.heat_maps.sanity_scores import Followed, follow
from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from cutaway.models.model import Model

__all__ = ["STEPS", "DeletableSamples", "Deletion", "followed_in", "orders"]

STEPS = 16


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
            scores[which] = self.followed.scores(answer, samples)
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
    return follow(aim, whole, blank)
