"""How many samples lie where none was seen: a two-sample test of distances to the nearest. Knows no subsets."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float32Array, Float64Array

__all__ = ["unlike_share"]

# The mean distance to so many of the nearest stands for a sample; so many samples of each side are looked at.
NEIGHBOURS, MOST = 5, 4_000
BLOCK = 1_024
# How seldom samples of the same kind may be told to be unlike by chance.
ALPHA = 0.01


def unlike_share(known: Float32Array, asked: Float32Array, seed: int) -> float:
    """Return at least how large a share of `asked` lies farther from `known` than these lie from each other.

    It is the largest difference of the two distributions of distances (Kolmogorov and Smirnov, one-sided) less what
    chance makes of it: 0 for samples of one kind, 1 where each lies farther away than any known one. More samples of
    some classes than before are not unlike; a class that nobody has seen is.
    """
    if len(known) <= NEIGHBOURS or not len(asked):
        return 0.0
    chance = np.random.default_rng(seed)
    here, there = _some(known, chance), _some(asked, chance)
    own, others = _distances(here, here, own=True), _distances(there, here, own=False)
    points = np.concatenate([own, others])
    reached = [np.searchsorted(np.sort(one), points, side="right") / len(one) for one in (own, others)]
    slack = np.sqrt(np.log(1 / ALPHA) / 2 * (1 / len(own) + 1 / len(others)))
    return float(np.clip((reached[0] - reached[1]).max() - slack, 0.0, 1.0))


def _some(vectors: Float32Array, chance: np.random.Generator) -> Float32Array:
    if len(vectors) <= MOST:
        return vectors
    return np.asarray(vectors[np.sort(chance.choice(len(vectors), MOST, replace=False))])


def _distances(vectors: Float32Array, known: Float32Array, *, own: bool) -> Float64Array:
    """Return the mean distance of each vector to the nearest few of `known`; `own` where these are the same rows."""
    middle = known.mean(axis=0, dtype=np.float64)
    others = known - middle
    lengths = np.einsum("ij,ij->i", others, others)
    found = np.empty(len(vectors))
    for start in range(0, len(vectors), BLOCK):
        part = vectors[start : start + BLOCK] - middle
        squares = np.einsum("ij,ij->i", part, part)[:, None] + lengths - 2 * (part @ others.T)
        if own:
            rows = np.arange(len(part))
            squares[rows, start + rows] = np.inf
        near = np.partition(squares, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]
        found[start : start + len(part)] = np.sqrt(np.maximum(near, 0)).mean(axis=1)
    return found
