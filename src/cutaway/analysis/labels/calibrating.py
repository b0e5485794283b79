"""Turns margins into the probability that a label is wrong, without knowing any label that is.

A margin is above 0 where the evidence agrees with the label. Right labels that the evidence contradicts lie below 0
too: classes overlap. They are the tail of the samples just above 0, so there are as many of them as those say, fewer
the further below 0. Wrong labels are the mirror image of right ones: a sample that would have had a margin of 2 has
one of about -2, or somewhat less, where the training learned its label by heart. How many wrong labels there are, how
far they were learned and how fast the tail falls is unknown: every combination is weighed by how well it explains the
samples below 0 and by how usual it is, and the answer is the mean of them all. So nothing is sure that few samples
say, and hard samples without wrong labels among them stay unsuspected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Float64Array, Int64Array

__all__ = ["Calibrated", "calibrate"]


# Into so many places are margins sorted from 0 to the largest, of which this share of the samples stays below.
PLACES, LARGEST = 32, 0.98
# Samples below this share of the largest margin say how many right labels the evidence is about to contradict.
NEAR = 0.2
# The tail of right labels at place u (1 is the largest) is start * exp(-fall * u**2).
START, FALL = np.geomspace(0.25, 2, 7), np.geomspace(0.5, 6, 7)
# Margins of wrong labels are those of right ones times this; they scatter about it by SCATTER (of the logarithm).
LEARNED, SCATTER = np.linspace(0.35, 1.05, 11), 0.16
# A sample between two classes may get a third one for its label, which the evidence contradicts more than the mirror
# image of its margin says: by this share of what is left to the largest margin.
FURTHER = 0.2
# The share of wrong labels.
RATES = np.concatenate([[0.0], np.geomspace(2e-4, 0.45, 48)])
# How usual each is: mean and deviation, of the logarithm but for LEARNED; and how usual it is that no label is wrong.
USUAL_START, USUAL_LEARNED, NO_WRONG = (0.7, 0.35), (0.9, 0.15), 0.2
# The tail falls below 0 as the samples above 0 rise: by their growth (of the logarithm) from one range to the other.
RISE_FROM, RISE_TO = (0.0, 0.25), (0.6, 0.9)
FALL_OF_GROWTH, LEAST_FALL, MOST_FALL, FALL_DEVIATION = (2.0, -2.5), 0.7, 4.5, 0.35
# Deciles of a standard normal distribution.
DECILES = np.array([-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645])


@dataclass(frozen=True)
class Calibrated:
    """For each margin the probability that the label is wrong; the share of wrong labels, from `low` to `high`.

    The range is that of the combinations that are weighed, and narrower than a 95 % interval: on planted labels it held
    the true share in about 7 of 10 cases, and was mostly too low in the others.
    """

    scores: Float64Array
    rate: float
    low: float
    high: float


def calibrate(margins: Float64Array, kinds: Int64Array | None = None) -> Calibrated:
    """Return how likely each label is wrong. Of one kind, the larger a margin, the less likely.

    `kinds` are numbers from 0: right labels of one kind are contradicted as often as its samples just above 0 say, and
    wrong ones are as frequent as they happen to be; what wrong labels and tails look like is the same for all kinds.
    """
    size = np.abs(margins)
    largest = float(np.quantile(size, LARGEST)) if len(size) else 0.0
    if not largest > 0:
        return Calibrated(np.zeros(len(size)), 0.0, 0.0, 1.0)
    below = margins < 0
    codes = np.zeros(len(margins), np.int64) if kinds is None else kinds
    place = np.minimum(size / largest * PLACES, PLACES - 1).astype(np.int64)
    agree, against = (
        np.bincount(codes[one] * PLACES + place[one], minlength=(codes.max() + 1) * PLACES)
        .reshape(-1, PLACES)
        .astype(np.float64)
        for one in (~below, below)
    )
    wrong = _wrong(agree.sum(axis=0), len(margins))
    rights = [_right(one) for one in agree]
    weights = _weights(wrong, rights, against, agree.sum(axis=0))
    scores = np.zeros(len(margins))
    for kind, (right, weight) in enumerate(zip(rights, weights, strict=True)):
        rate = float(weight.sum(axis=(1, 2, 3)) @ RATES)
        scores_below = np.einsum("rlsf,rlsfp->p", weight, wrong / (wrong + right))
        tail = np.einsum("sf,sfp->p", weight.sum(axis=(0, 1)), right[0, 0])
        # Above 0 lie the wrong labels of samples whose right label the evidence would have contradicted.
        scores_above = rate / (1 - rate) * np.minimum(tail / np.maximum(_smooth(agree[kind]), 1e-9), 1)
        whole = np.concatenate([np.minimum.accumulate(scores_above)[::-1], scores_below])
        whole = np.clip(np.maximum.accumulate(whole), 0, 1)
        mine = codes == kind
        scores[mine] = np.interp(-margins[mine] / largest * PLACES, np.arange(-PLACES, PLACES) + 0.5, whole)
    return Calibrated(scores, *_rate(weights))


def _wrong(agree: Float64Array, count: int) -> Float64Array:
    """Return how many wrong labels to expect below 0, by their rate and how far they were learned; at each place."""
    return np.asarray((count * RATES[:, None, None] * _mirrored(agree))[:, :, None, None])


def _right(agree: Float64Array) -> Float64Array:
    """Return how many right labels of a kind to expect below 0, by start and fall of the tail; at each place."""
    middle = (np.arange(PLACES) + 0.5) / PLACES
    near = round(NEAR * PLACES)
    start = (agree[:near].sum() + 0.5) / near * START
    return np.asarray((start[:, None, None] * np.exp(-FALL[:, None] * middle**2))[None, None])


def _weights(
    wrong: Float64Array, rights: list[Float64Array], against: Float64Array, agree: Float64Array
) -> list[Float64Array]:
    """Return the weight of each combination for each kind: axes are rate, how far learned, start and fall of the tail.

    Each kind has a rate of its own, and all have the rest in common.
    """
    rates = np.full(len(RATES), (1 - NO_WRONG) / (len(RATES) - 1))
    rates[0] = NO_WRONG
    common = _usual(LEARNED, USUAL_LEARNED)[:, None, None]
    common = common + _usual(np.log(START), (np.log(USUAL_START[0]), USUAL_START[1]))[:, None]
    common = common + _usual(np.log(FALL), (np.log(_usual_fall(agree)), FALL_DEVIATION))
    likely = []
    for right, counts in zip(rights, against, strict=True):
        expected = wrong + right
        # Counts are Poisson; what is the same for all combinations is left out.
        mine = (counts * np.log(expected)).sum(axis=-1) - expected.sum(axis=-1) + np.log(rates)[:, None, None, None]
        likely.append(mine)
    whole = [np.logaddexp.reduce(one, axis=0) for one in likely]
    common = common + sum(whole)
    shared = np.exp(common - common.max())
    shared /= shared.sum()
    return [np.exp(one - sums) * shared for one, sums in zip(likely, whole, strict=True)]


def _rate(weights: list[Float64Array]) -> tuple[float, float, float]:
    """Return the share of wrong labels of all kinds together, from where to where it likely lies."""
    shares = [one.sum(axis=(1, 2, 3)) for one in weights]
    rate = sum(float(one @ RATES) for one in shares)
    variance = sum(float(one @ RATES**2) - float(one @ RATES) ** 2 for one in shares)
    reach = 1.96 * float(np.sqrt(max(variance, 0.0)))
    return rate, max(0.0, rate - reach), min(1.0, rate + reach)


def _usual_fall(agree: Float64Array) -> float:
    """Return how fast the tail of right labels usually falls below 0, from how the samples above 0 rise."""
    near, far = (
        (agree[round(low * PLACES) : round(high * PLACES)].sum() + 1) / (high - low)
        for low, high in (RISE_FROM, RISE_TO)
    )
    slope, offset = FALL_OF_GROWTH
    return float(np.clip(slope * np.log(far / near) + offset, LEAST_FALL, MOST_FALL))


def _mirrored(agree: Float64Array) -> Float64Array:
    """Return where wrong labels lie below 0 if they were learned so far: (LEARNED, places), each summing to 1."""
    places = np.arange(PLACES) + 0.5
    moved = places + FURTHER * (PLACES - places) - 0.5
    lower = moved.astype(np.int64)
    upper = np.minimum(lower + 1, PLACES - 1)
    whole = _smooth(agree)
    margins = np.zeros(PLACES)
    np.add.at(margins, lower, whole * (1 - moved + lower))
    np.add.at(margins, upper, whole * (moved - lower))
    margins = _smooth(margins)
    factors = LEARNED[:, None] * np.exp(SCATTER * DECILES)
    found = (np.interp(places / factors[..., None], places, margins, right=0.0) / factors[..., None]).sum(axis=1)
    # Nothing is impossible.
    found += 1e-12
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _smooth(counts: Float64Array) -> Float64Array:
    """Return counts spread over their neighbours, reflected at both ends."""
    padded = np.pad(counts, 3, mode="symmetric")
    kernel = np.exp(-0.5 * np.arange(-3, 4) ** 2)
    return np.convolve(padded, kernel / kernel.sum(), mode="valid")


def _usual(values: Float64Array, mean_and_deviation: tuple[float, float]) -> Float64Array:
    mean, deviation = mean_and_deviation
    return np.asarray(-0.5 * ((values - mean) / deviation) ** 2)
