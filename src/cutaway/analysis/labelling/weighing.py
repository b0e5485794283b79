"""What makes one unlabelled sample worth more than another: how unsure the model is of it, how usual it is."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float32Array

__all__ = ["crowding", "uncertainty"]

# The spread around a sample is the mean distance to so many of its nearest, among at most so many others.
NEIGHBOURS, OTHERS = 10, 2_000
BLOCK = 2_048
# Nothing counts as more crowded than this part of the usual spread: copies of one sample lie at distance 0.
SMALLEST = 0.25


def uncertainty(probabilities: Float32Array) -> Float32Array:
    """Return 1 less the margin between the two likeliest classes: 0 for certain, 1 where both are as likely.

    >>> [round(float(one), 2) for one in uncertainty(np.array([[1.0, 0.0], [0.5, 0.5]], np.float32))]
    [0.0, 1.0]
    """
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities), np.float32)
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.asarray(np.clip(1 - (top[:, 1] - top[:, 0]), 0, 1), np.float32)


def crowding(candidates: Float32Array, seed: int) -> Float32Array:
    """Return how much room is around each candidate, in parts of the usual: 1 for most, large for outliers.

    It is the mean distance to the nearest few of a random sample of the others, so that it costs the same for each
    candidate however many there are. What is crowded more than four times as much as usual counts as four times.
    """
    import torch

    count = len(candidates)
    kept = min(NEIGHBOURS, count - 1)
    if kept < 1:
        return np.ones(count, np.float32)
    vectors = torch.from_numpy(candidates - candidates.mean(axis=0))
    chosen = np.sort(np.random.default_rng(seed).choice(count, min(OTHERS, count), replace=False))
    others = vectors[torch.from_numpy(chosen)]
    squares = others.square().sum(1)
    place = np.full(count, -1)
    place[chosen] = np.arange(len(chosen))
    room = np.empty(count, np.float32)
    kept = min(kept, len(others) - 1)
    for start in range(0, count, BLOCK):
        part = vectors[start : start + BLOCK]
        # cdist takes several times as long; near distances, which products round, are averaged here.
        found = torch.addmm(squares[None, :], part, others.T, alpha=-2.0) + part.square().sum(1, keepdim=True)
        own = torch.from_numpy(place[start : start + BLOCK])
        rows = torch.nonzero(own >= 0)[:, 0]
        found[rows, own[rows]] = torch.inf  # a sample is no neighbour of its own
        room[start : start + BLOCK] = found.topk(kept, largest=False).values.clamp(min=0).sqrt().mean(1).numpy()
    usual = float(np.median(room)) or float(room.mean()) or 1.0
    return np.asarray(np.maximum(room / usual, SMALLEST), np.float32)
