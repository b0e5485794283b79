"""How much each feature says about the class: weights by which observed labels are likeliest. Pure."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float64Array

__all__ = ["answers", "chances_of", "fit_weights", "weigh_with_flips"]

# How strongly weights are held near the usual ones. Where features know the label, as those of the model do, fitted
# weights are those by which wrong labels look right: they may grow together, but hardly each by itself.
HELD_BACK, HELD_TOGETHER = 2e-2, 0.5
STEPS, CLOSE_ENOUGH = 25, 1e-5
# No weight changes by more in one step, which is halved so often at most.
LONGEST, HALVED = 1.0, 6
ROUNDS, STEPS_A_ROUND = 12, 2


def chances_of(features: Float64Array, weights: Float64Array) -> Float64Array:
    """Return the probabilities of the classes, (samples, classes)."""
    odds = features @ weights
    odds -= odds.max(axis=1, keepdims=True)
    np.exp(odds, out=odds)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def fit_weights(
    features: Float64Array,
    target: Float64Array,
    usual: Float64Array,
    start: Float64Array | None = None,
    *,
    steps: int = STEPS,
    together: bool = False,
) -> Float64Array:
    """Return the weights under which the classes in `target`, shares of each sample, are likeliest.

    They are held near the usual ones; `together` more so, but for their size.
    """
    count, _, width = features.shape
    flat = features.reshape(-1, width)
    held = _held(usual, together=together)
    weights = (usual if start is None else start).copy()
    for _ in range(steps):
        chances = chances_of(features, weights)
        slope = (target - chances).reshape(-1) @ flat / count - 2 * held @ (weights - usual)
        mean = np.einsum("nk,nkm->nm", chances, features)
        curve = (flat * chances.reshape(-1, 1)).T @ flat - mean.T @ mean
        step = np.linalg.solve(curve / count + 2 * held, slope)
        longest = float(np.abs(step).max())
        if longest < CLOSE_ENOUGH:
            break
        step *= min(1.0, LONGEST / longest)
        before = _likely(chances, target, weights - usual, held)
        # A whole step may go too far where probabilities are next to 0 and 1.
        for _ in range(HALVED):
            if _likely(chances_of(features, weights + step), target, weights + step - usual, held) >= before:
                break
            step /= 2
        weights = weights + step
    return weights


def _held(usual: Float64Array, *, together: bool) -> Float64Array:
    """Return by how much each direction away from the usual weights is held back, (features, features)."""
    every = np.eye(len(usual))
    if not together:
        return HELD_BACK * every
    along = np.outer(usual, usual) / (usual @ usual)
    return HELD_TOGETHER * every - (HELD_TOGETHER - HELD_BACK) * along


def _likely(chances: Float64Array, target: Float64Array, away: Float64Array, held: Float64Array) -> float:
    each = (target * np.log(np.maximum(chances, 1e-300))).sum() / len(chances)
    return float(each - away @ held @ away)


def weigh_with_flips(
    features: Float64Array, flips: Float64Array, usual: Float64Array, start: Float64Array
) -> Float64Array:
    """Return how likely each class is the right one of each sample, given its label and how classes get mixed up.

    `flips` is how likely a sample of each class has this sample's label. Weights and answers are found in turns.
    """
    weights = start
    for _ in range(ROUNDS):
        target = answers(features, flips, weights)
        weights = fit_weights(features, target, usual, weights, steps=STEPS_A_ROUND, together=True)
    return answers(features, flips, weights)


def answers(features: Float64Array, flips: Float64Array, weights: Float64Array) -> Float64Array:
    """Return how likely each class is the right one by these weights."""
    found = chances_of(features, weights) * flips
    return np.asarray(found / found.sum(axis=1, keepdims=True))
