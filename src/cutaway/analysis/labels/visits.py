"""What the visits of a training say about each label: how sure the model was of it, and how often it was wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.arrays import Float64Array, Int64Array

__all__ = ["Visits", "read_visits"]

# A loss may miss what the scores say by so much, which is what single precision and half precision leave.
TOLERANCE = 0.02
# Where fewer visits than this have the loss that their margin implies, the loss was weighted, smoothed, or another one.
PLAIN = 0.99
# Later visits than this say little: a network that trains on learns wrong labels by heart. After 150 epochs on digits
# with 10 % wrong labels, the mean of all visits left no correction to accept, that of the first 30 nearly 80 %.
LAST = 30


@dataclass(frozen=True)
class Visits:
    """For each sample the mean probability margin, NaN where training did not see it, and what makes it plausible.

    `margin` is the probability of the label less that of the best other class, from the second visit to the 30th: at
    the first one the model knows nothing yet, and later it knows labels by heart. `score_margin` is the same of the
    scores, NaN where there is no second visit. `plain` says whether probabilities follow from the recorded losses;
    where not, they are taken from the margins alone.
    """

    margin: Float64Array
    score_margin: Float64Array
    count: Int64Array
    wrong: Int64Array
    forgotten: Int64Array
    plain: bool


def read_visits(dynamics: Dynamics, classes: int) -> Visits:
    """Return what each sample's visits say."""
    margins, losses = dynamics.margins.astype(np.float64), dynamics.losses.astype(np.float64)
    seen = np.isfinite(margins)
    plain = _is_plain(losses, margins, classes)
    with np.errstate(over="ignore", invalid="ignore"):
        # p of the label is exp(-loss), p of the best other is exp(-loss - margin).
        single = np.exp(-losses) - np.exp(-losses - margins) if plain else np.tanh(margins / 2)
    wrong = seen & (margins < 0)
    forgotten = (seen[:-1] & (margins[:-1] >= 0) & wrong[1:]).sum(axis=0)
    again = np.where(seen.sum(axis=0) > 1, _later_mean(np.where(seen, margins, np.nan)), np.nan)
    return Visits(_later_mean(single), again, seen.sum(axis=0), wrong.sum(axis=0), forgotten, plain)


def _later_mean(values: Float64Array) -> Float64Array:
    """Return the mean over visits from the second to the last that counts, or the first where there is no other.

    NaN without any.
    """
    values = values[:LAST]
    known = np.isfinite(values)
    later = known.copy()
    later[:1] &= known.sum(axis=0) == 1
    total = np.where(later, values, 0.0).sum(axis=0)
    count = later.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _is_plain(losses: Float64Array, margins: Float64Array, classes: int) -> bool:
    """Whether losses are the cross-entropy of the scores whose margins these are."""
    known = np.isfinite(losses) & np.isfinite(margins)
    if not known.any():
        return False
    loss, margin = losses[known], margins[known]
    # The other classes together weigh as much as the best of them at least, and all of them as much at most.
    least = np.logaddexp(0, -margin)
    most = np.logaddexp(0, np.log(max(classes - 1, 1)) - margin)
    room = TOLERANCE * (1 + np.abs(loss))
    return bool(((loss >= least - room) & (loss <= most + room)).mean() >= PLAIN)
