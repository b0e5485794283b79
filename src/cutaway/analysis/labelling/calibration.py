"""How often the model is right at each confidence, learned on held-out samples, and carried over to others.

Functions of arrays; knows no samples and no subsets.
"""

from __future__ import annotations

import numpy as np

from cutaway.arrays import BoolArray, Float32Array, Float64Array

__all__ = ["carried_share", "confidence_scores"]


# Confidences nearer to 1 than this differ by rounding only.
NEAREST_TO_ONE = 1e-6
# Half a right and half a wrong answer are added to what was seen, so that a model without mistakes is not infallible.
PRIOR = 0.5
# Keeps the slope finite where confidence tells right from wrong without fail; too weak to matter elsewhere.
RIDGE = 1e-2
ROUNDS, CLOSE, LONGEST_STEP = 100, 1e-9, 2.0


def confidence_scores(probabilities: Float32Array) -> Float64Array:
    """Return the largest probability of each row as log odds, in which calibration curves are nearly straight."""
    largest = np.clip(probabilities.max(axis=1).astype(np.float64), NEAREST_TO_ONE, 1 - NEAREST_TO_ONE)
    return np.asarray(np.log(largest) - np.log1p(-largest))


def carried_share(scores: Float64Array, right: BoolArray, others: Float64Array) -> tuple[float, float]:
    """Return the expected share of right answers at scores `others`, and its variance.

    A logistic curve of `right` over `scores` is fitted. The variance is that of the curve (a sandwich, which holds
    also where the curve is not the true one), and that of the answers themselves, which are right or wrong.
    """
    middle, spread = scores.mean(), scores.std() or 1.0
    design = _design((scores - middle) / spread)
    design = np.concatenate([design, [[1.0, 0.0], [1.0, 0.0]]])
    answers = np.concatenate([right.astype(np.float64), [1.0, 0.0]])
    weights = np.concatenate([np.ones(len(scores)), [PRIOR, PRIOR]])
    curve, doubt = _fitted(design, answers, weights)
    there = _design((others - middle) / spread)
    chances = _logistic(there @ curve)
    noise = chances * (1 - chances)
    slope = (there * noise[:, None]).mean(axis=0)
    return float(chances.mean()), float(slope @ doubt @ slope + noise.mean() / len(others))


def _design(scores: Float64Array) -> Float64Array:
    return np.stack([np.ones(len(scores)), scores], axis=1)


def _logistic(values: Float64Array) -> Float64Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -40, 40))))


def _fitted(design: Float64Array, answers: Float64Array, weights: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the curve's two numbers, and their covariance."""
    curve, ridge = np.zeros(2), np.diag([0.0, RIDGE])
    for _ in range(ROUNDS):
        chances = _logistic(design @ curve)
        bend = (design * (weights * chances * (1 - chances))[:, None]).T @ design + ridge
        step = np.linalg.solve(bend, design.T @ (weights * (answers - chances)) - ridge @ curve)
        longest = float(np.abs(step).max())
        curve = curve + step * min(1.0, LONGEST_STEP / max(longest, CLOSE))
        if longest < CLOSE:
            break
    errors = weights * (answers - _logistic(design @ curve))
    inverse = np.linalg.inv(bend)
    return curve, np.asarray(inverse @ ((design * (errors**2)[:, None]).T @ design) @ inverse)
