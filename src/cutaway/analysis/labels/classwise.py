"""What speaks for each of the likeliest classes of each sample, as numbers that a fit can weigh. Weighs nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import BoolArray, Float32Array, Float64Array, IndexArray, Int64Array

__all__ = ["LIKELIEST", "MODEL", "Classwise"]

LIKELIEST = 12
"""So many classes of a sample are looked at: its label, and those that most speaks for."""
MODEL = 2
"""So many of the features, the first ones, are what the model said; the others come from latent vectors."""
# A log-probability this far below the best one says no more than a lower one.
LEAST = -15.0
# Predictions of the linear fit are about 0 and 1; how steeply a bounded copy of them rises.
RIDGE, STEEP = 4.0, 2.0
# Votes count as if each class had so many more.
MORE_VOTES = 0.5


@dataclass(frozen=True)
class Classwise:
    """For each sample its likeliest classes, `codes` (samples, classes), the label first, and features of each.

    `model` is the logarithm of the model's probability, `ridge` the prediction of the linear fit without the sample,
    and `votes` the share of its neighbours. NaN where that is not known.
    """

    codes: Int64Array
    model: Float64Array
    ridge: Float64Array
    votes: Float64Array

    @classmethod
    def empty(cls, count: int, classes: int) -> Classwise:
        """Return room for so many samples, of which nothing is known yet."""
        shape = (count, min(classes, LIKELIEST))
        return cls(np.zeros(shape, np.int64), *(np.full(shape, np.nan) for _ in range(3)))

    def take(self, rows: IndexArray) -> Classwise:
        """Return some of the samples."""
        return Classwise(self.codes[rows], self.model[rows], self.ridge[rows], self.votes[rows])

    def fill(
        self,
        rows: IndexArray,
        labels: Int64Array,
        fitted: Float32Array | None,
        votes: tuple[Int64Array, Int64Array],
        chances: Float32Array | None,
    ) -> None:
        """Choose the classes of some samples and keep what speaks for them; each argument is about these rows alone.

        `votes` are the labels of neighbours, and how many were asked; `fitted` and `chances` are (rows, classes).
        """
        voted, asked = votes
        shares = _shares(voted, asked, self._classes(fitted, chances, voted, labels))
        found = shares if fitted is None else shares + fitted
        if chances is not None:
            found[:, : chances.shape[1]] += np.nan_to_num(chances)
        found[np.arange(len(rows)), labels] = np.inf
        most = min(self.codes.shape[1], found.shape[1])
        best = np.argpartition(-found, most - 1, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(found, best, axis=1), axis=1, kind="stable")
        codes = np.take_along_axis(best, order, axis=1)
        self.codes[rows, :most] = codes
        self.votes[rows[asked > 0], :most] = np.take_along_axis(shares, codes, axis=1)[asked > 0]
        if fitted is not None:
            self.ridge[rows, :most] = np.take_along_axis(fitted, codes, axis=1)
        if chances is not None:
            inside = np.where(codes < chances.shape[1], codes, 0)
            taken = np.take_along_axis(chances, inside, axis=1).astype(np.float64)
            self.model[rows, :most] = np.log(np.maximum(np.where(codes < chances.shape[1], taken, 0.0), 1e-9))

    def _classes(
        self, fitted: Float32Array | None, chances: Float32Array | None, voted: Int64Array, labels: Int64Array
    ) -> int:
        if fitted is not None:
            return int(fitted.shape[1])
        wide = 0 if chances is None else chances.shape[1]
        return max(int(wide), int(self.codes.shape[1]), int(voted.max(initial=0)) + 1, int(labels.max(initial=0)) + 1)

    def features(self, seen: Float64Array) -> Float64Array:
        """Return the features, (samples, classes, features); 0 where nothing is known.

        `seen` is the score margin of the label while training saw the sample, NaN where it did not. It stands for what
        the trained model says of the label, since that has seen the label.
        """
        model = self.model.copy()
        others = np.nan_to_num(model[:, 1:], nan=0.0)
        visited = np.isfinite(seen)
        model[visited, 1:] = others[visited]
        model[visited, 0] = others[visited].max(axis=1) + np.clip(seen[visited], LEAST, -LEAST)
        model -= model.max(axis=1, keepdims=True)
        model = np.maximum(model, LEAST)
        ridge = self.ridge * RIDGE
        votes = np.log(self.votes * 10 + MORE_VOTES)
        # The bounded copies let the tails of the fitted probabilities be as heavy as they are.
        bounded = (np.exp(model) * 2, np.tanh(self.ridge * STEEP) * RIDGE, self.votes * 4)
        found = np.stack([model, bounded[0], ridge, bounded[1], votes, bounded[2]], axis=2)
        return np.asarray(np.nan_to_num(found, nan=0.0))

    @property
    def judged(self) -> BoolArray:
        """Of which samples latent vectors tell how likely each class is, whatever their label."""
        return np.asarray(np.isfinite(self.ridge[:, 0]) & np.isfinite(self.votes[:, 0]))


def _shares(voted: Int64Array, asked: Int64Array, classes: int) -> Float64Array:
    shares = np.zeros((len(voted), classes))
    for voter in range(voted.shape[1]):
        chosen = np.flatnonzero(voted[:, voter] >= 0)
        shares[chosen, voted[chosen, voter]] += 1 / asked[chosen]
    return shares
