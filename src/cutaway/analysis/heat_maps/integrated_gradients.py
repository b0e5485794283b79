"""Integrated gradients: gradients on the way from a baseline to the sample, which add up to the change of the score."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, changed_scores, packs, predict, spread
from cutaway.arrays import Array, Float64Array, Int64Array
from cutaway.errors import ConfigurationError

__all__ = ["integrated_gradients"]

# Beyond this the places of Gauss and Legendre take longer to find than their gradients.
_MOST_STEPS = 1000


def integrated_gradients(asked: HeatMapQuestion) -> Found:
    """Return maps by integrated gradients, at the places of Gauss and Legendre, with their completeness."""
    steps = asked.options.steps
    if not 1 <= steps <= _MOST_STEPS:
        raise ConfigurationError(f"`1 <= steps <= {_MOST_STEPS}` must hold, but got steps={steps}.")
    scores, targets = predict(asked)
    before = _scores_of_baseline(asked, targets)
    difference = asked.values - asked.removed
    attributions = difference * _mean_gradient(asked, difference, targets)
    channel = asked.axes.channel
    maps = attributions if channel is None else attributions.sum(axis=channel)
    return Found(
        np.asarray(maps, np.float32),
        scores,
        targets,
        signed=True,
        attributions=attributions,
        completeness=_completeness(attributions, scores - before),
        notes=(f"{steps} steps.",),
    )


def _mean_gradient(asked: HeatMapQuestion, difference: Array, targets: Int64Array | None) -> Array:
    """Return the gradients on the way, each weighed by the stretch of the way that it stands for."""
    aim, steps = asked.aim, asked.options.steps
    places, weights = _on_the_way(steps)
    # Half-precision inputs add up in single precision.
    total = np.zeros(difference.shape, np.promote_types(difference.dtype, np.float32))
    counter = Counter(asked.progress, asked.count * steps, "steps", "integrated gradients")
    for samples, part in packs(asked, steps):
        share = places[part].reshape(-1, *[1] * difference.ndim).astype(difference.dtype)
        changed = share * difference[samples]
        if asked.baseline is not None:
            changed += asked.baseline[samples]
        batch, rows = spread(asked, samples, changed)
        gradient = asked.model.gradient(
            batch,
            aim.output,
            None if targets is None else targets[rows],
            loss=aim.loss,
            labels=None if aim.labels is None else aim.labels[rows],
            wrt=asked.axes.name,
        ).gradient
        # One row for each step: a product of matrices weighs and adds them up in one go.
        flat = gradient.reshape(len(changed), -1)
        total[samples] += (weights[part].astype(total.dtype) @ flat).reshape(total[samples].shape)
        counter.advance(len(rows))
    return total


def _scores_of_baseline(asked: HeatMapQuestion, targets: Int64Array | None) -> Float64Array:
    found = np.empty(asked.count)
    for samples, _ in packs(asked, 1):
        found[samples] = changed_scores(asked, samples, asked.removed[samples][None], targets)
    return found


def _completeness(attributions: Array, change: Float64Array) -> Float64Array:
    """Return how far the sums are from the changes, as a share of them; NaN where the score does not change."""
    sums = attributions.reshape(len(attributions), -1).sum(axis=1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(change == 0, np.nan, np.abs(sums - change) / np.abs(change))


@lru_cache(maxsize=8)
def _on_the_way(steps: int) -> tuple[Float64Array, Float64Array]:
    places, weights = np.polynomial.legendre.leggauss(steps)
    return (1 + places) / 2, weights / 2
