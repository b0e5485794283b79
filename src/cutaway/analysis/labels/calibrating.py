"""Turns what speaks for each class into the probability that a label is wrong, without knowing any label that is.

Two things are found that make it one: how likely each class is by the evidence, and how often labels of each class are
wrong. The rest is Bayes' rule. Where the two cannot be told apart there is no probability, but a reason and a ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cutaway.analysis.labels.classwise import MODEL, Classwise
from cutaway.analysis.labels.flips import Flips, estimate_flips
from cutaway.analysis.labels.rate import WrongShare, estimate_rate, places_of
from cutaway.analysis.labels.weighing import answers, chances_of, fit_weights, weigh_with_flips
from cutaway.arrays import BoolArray, Float64Array, IndexArray, Int64Array

__all__ = ["Calibrated", "calibrate", "how_far_by_heart"]

# Fewer samples than this say nothing about how many labels are wrong.
FEWEST, FEWEST_HELD_OUT = 100, 200
# Nor do samples of which more than this share is contradicted: few are easy then.
MOST_AGAINST = 0.3
# Of fewer samples not more than this share may be.
FEWEST_HARD, MOST_AGAINST_FEW = 1_000, 0.1
# Labels that were trained on are contradicted less often than held-out ones by at most so much, or they were learned by
# heart.
BY_HEART = 0.03
# Held-out labels that are contradicted so many times as often are no sign of it; from the second number on they are a
# sure one.
NOT_BY_HEART, SURELY_BY_HEART = 1.1, 1.6
# Contradicted labels are counted as if there were so many more among either.
MORE_AGAINST = 2
# A share of wrong labels from which on it matters, and one that cannot be told from none.
MATTERS, NONE = 0.005, 0.002
# No number is told that may as well be so many times as large, or that a second estimate differs from so far.
WIDEST, FARTHEST = 4.0, 2.0
# Samples differ from what the estimate takes them for: where that could be checked the truth was so far off.
OFF = 1.2
# What is assumed to rank by where the share of wrong labels is not known.
ASSUMED = 0.02
# The weights of features that are usual: of the model, the linear fit and the neighbours, each with its bounded copy.
USUAL = np.array([0.5, -0.5, 0.3, 0.5, 0.9, 0.0])
# The weights where labels were learned by heart, so that latent vectors speak for wrong ones, too: the model's part is
# what it said before. Nothing is fitted there: by fitted weights, wrong labels would look right.
DISTRUSTFUL = np.array([1.0, 0.0, 0.1, 0.0, 0.1, 0.0])
# Odds are multiplied by at most so much, to make the scores add up to the number that is expected.
MOST_SHIFT = 30.0


@dataclass(frozen=True)
class Calibrated:
    """For each sample the probability that its label is wrong, and the class that is likelier, with its probability.

    Of all labels `rate` are wrong, from `low` to `high`; the scores add up to that. Where `reason` says why that cannot
    be known, scores and rates are NaN, and `doubt` alone tells which labels come first: the larger, the more likely
    wrong.
    """

    doubt: Float64Array
    scores: Float64Array
    suggested: Int64Array
    suggested_scores: Float64Array
    rate: float
    low: float
    high: float
    reason: str = ""

    def among(self, rows: IndexArray, count: int) -> Calibrated:
        """Return the same about `rows` of so many samples, NaN and -1 for the others."""
        doubt, scores, suggested_scores = (np.full(count, np.nan) for _ in range(3))
        suggested = np.full(count, -1)
        doubt[rows], scores[rows], suggested_scores[rows] = self.doubt, self.scores, self.suggested_scores
        suggested[rows] = self.suggested
        return replace(self, doubt=doubt, scores=scores, suggested=suggested, suggested_scores=suggested_scores)


def calibrate(
    classwise: Classwise, seen: Float64Array, held_out: BoolArray, classes: int, *, seed: int = 0
) -> Calibrated:
    """Return how likely each label is wrong. `seen` is the score margin of the label while training saw the sample."""
    features = classwise.features(seen)
    codes = classwise.codes
    rate, flips, reason, by_heart = _flips(features, classwise, held_out, classes, seed)
    likely = flips.of(codes, codes[:, 0])
    # Without visits the model says what it knew at the end, by heart or not.
    by_heart = by_heart if np.isfinite(seen).any() else 0.0
    usual = USUAL + by_heart * (DISTRUSTFUL - USUAL)
    if by_heart == 1:
        right = answers(features, likely, usual)
    else:
        right = weigh_with_flips(features, likely, usual, fit_weights(features, _labels(codes), usual, together=True))
    doubt = 1 - right[:, 0]
    others = np.where(np.arange(codes.shape[1]) > 0, right, -1.0)
    best = others.argmax(axis=1)
    rows = np.arange(len(codes))
    suggested = np.where(others[rows, best] >= 0, codes[rows, best], -1)
    if not reason and rate.share > MATTERS and not _alike(rate.share, float(doubt.mean())):
        reason = (
            f"two estimates of how many labels are wrong differ: {rate.share:.1%} by where the evidence is surest, "
            f"{doubt.mean():.1%} by all of it"
        )
    if reason:
        nothing = np.full(len(codes), np.nan)
        return Calibrated(doubt, nothing, suggested, nothing, np.nan, np.nan, np.nan, reason)
    scores = _adding_up_to(doubt, rate.share * len(codes))
    share = np.clip(others[rows, best] / np.maximum(doubt, 1e-300), 0, 1)
    low = 0.0 if rate.low < NONE else rate.low / OFF
    expected = float(scores.mean())
    return Calibrated(
        doubt,
        scores,
        suggested,
        scores * share,
        expected,
        min(low, expected),
        max(min(1.0, rate.high * OFF), expected),
    )


def _flips(
    features: Float64Array, classwise: Classwise, held_out: BoolArray, classes: int, seed: int
) -> tuple[WrongShare, Flips, str, float]:
    """Return the share of wrong labels, which classes get which, and why that is not to be believed, if so.

    Also how far labels were learned by heart, from 0 to 1.
    """
    rows = np.flatnonzero(classwise.judged)
    assumed = np.full(classes, ASSUMED)
    unknown = WrongShare(ASSUMED, 0.0, 1.0, assumed, np.zeros(0))
    if len(rows) < FEWEST:
        few = f"it takes {FEWEST} samples with a label and a latent vector to say how many labels are wrong"
        return unknown, Flips(assumed, None), f"{few}, and there are {len(rows):,}", 0.0
    sure, preferred, contradicted = _judge(features[rows, :, MODEL:], classwise.codes[rows])
    against = float(contradicted.mean())
    rate = estimate_rate(places_of(sure), contradicted, preferred, classes, seed)
    within = estimate_rate(places_of(sure, preferred), contradicted, preferred, classes, seed)
    flips = estimate_flips(rate.by_class, classwise.codes[rows, 0], preferred, contradicted, rate.flipped)
    reason = _underfitted(against, len(rows))
    # Where many labels are contradicted, most are of hard samples, which tell little of wrong labels' habits.
    flips = flips.evened() if reason else flips
    reason = reason or _too_wide(rate) or _two_answers(rate, within)
    held = held_out[rows]
    by_heart = how_far_by_heart(contradicted[~held], contradicted[held])
    if min(held.sum(), (~held).sum()) < FEWEST_HELD_OUT:
        return rate, flips, reason, by_heart
    trained, other = float(contradicted[~held].mean()), float(contradicted[held].mean())
    if other - trained > BY_HEART:
        return rate, flips, _by_heart(trained, other), by_heart
    if not reason:
        ours, theirs = (
            estimate_rate(places_of(sure)[part], contradicted[part], preferred[part], classes, seed)
            for part in (~held, held)
        )
        reason = _learned_by_heart(ours, theirs)
    return rate, flips, reason, by_heart


def _labels(codes: Int64Array) -> Float64Array:
    found = np.zeros(codes.shape)
    found[:, 0] = 1
    return found


def _judge(features: Float64Array, codes: Int64Array) -> tuple[Float64Array, Int64Array, BoolArray]:
    """Return how sure latent vectors are of the class that they are for, which one that is, and whether not the label.

    The features are of samples as if each had been left out, so that none is judged by its own label.
    """
    weights = fit_weights(features, _labels(codes), USUAL[MODEL:])
    chances = chances_of(features, weights)
    best = chances.argmax(axis=1)
    return chances.max(axis=1), codes[np.arange(len(codes)), best], best != 0


def _underfitted(against: float, count: int) -> str:
    if against <= (MOST_AGAINST if count >= FEWEST_HARD else MOST_AGAINST_FEW):
        return ""
    return (
        f"latent vectors are for another class than the label in {against:.0%} of the samples, so that the model knows "
        "too little of the classes; train for longer"
    )


def _too_wide(rate: WrongShare) -> str:
    if rate.high <= 2 * MATTERS or rate.high <= WIDEST * max(rate.low, NONE):
        return ""
    return (
        f"between {rate.low:.1%} and {rate.high:.1%} of them may be wrong: hard samples and wrong labels cannot be "
        "told apart, as where a training was short or the model is hardly sure of any class"
    )


def _two_answers(rate: WrongShare, within: WrongShare) -> str:
    if abs(rate.share - within.share) <= MATTERS or _alike(rate.share, within.share):
        return ""
    return (
        f"two estimates of how many labels are wrong differ: {rate.share:.1%} where all classes are compared, "
        f"{within.share:.1%} where each is taken by itself"
    )


def how_far_by_heart(trained: BoolArray, held_out: BoolArray) -> float:
    """Return how far labels that were trained on are contradicted less often than held-out ones, from 0 to 1."""
    if not len(trained) or not len(held_out):
        return 0.0
    here, there = ((float(one.sum()) + MORE_AGAINST) / len(one) for one in (trained, held_out))
    return float(np.clip((there / here - NOT_BY_HEART) / (SURELY_BY_HEART - NOT_BY_HEART), 0, 1))


def _by_heart(trained: float, held_out: float) -> str:
    return (
        f"latent vectors contradict {held_out:.0%} of the held-out labels, but {trained:.0%} of those that were "
        "trained on: the model learned labels by heart (train for less long), or held-out samples are of another kind"
    )


def _learned_by_heart(trained: WrongShare, held_out: WrongShare) -> str:
    if held_out.low <= max(trained.high, MATTERS):
        return ""
    return (
        f"{held_out.share:.1%} of the held-out labels seem wrong, but {trained.share:.1%} of those that were trained "
        "on: the model learned labels by heart, or held-out samples are of another kind"
    )


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= FARTHEST * min(one, other)


def _adding_up_to(doubt: Float64Array, total: float) -> Float64Array:
    """Return the probabilities with all odds multiplied by the same, so that they add up to a total."""
    odds = doubt / np.maximum(1 - doubt, 1e-12)
    low, high = 1 / MOST_SHIFT, MOST_SHIFT
    for _ in range(60):
        middle = np.sqrt(low * high)
        if (odds * middle / (1 + odds * middle)).sum() < total:
            low = middle
        else:
            high = middle
    return np.asarray(odds * low / (1 + odds * low))
