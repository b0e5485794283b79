"""How well the model probably does on samples without a label, and when that cannot be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.labelling.pool import TRAINING, unlabelled
from cutaway.analysis.samples import CORRECT, SUBSET, Samples
from cutaway.analysis.statistics.intervals import share_interval
from cutaway.arrays import BoolArray, Float32Array, Float64Array
from cutaway.errors import AnalysisUnavailable

__all__ = ["Estimate", "carried_share", "confidence_scores", "estimate_accuracy", "unlike_share"]

ANALYSIS = "estimated metric"
# Fewer held-out samples tell too little to carry over.
FEWEST = 20
# The mean distance to so many of the nearest stands for a sample; so many samples of each side are looked at.
NEIGHBOURS, MOST = 5, 4_000
BLOCK = 1_024
# How seldom samples of the same kind may be told to be unlike by chance.
ALPHA = 0.01

# Confidences nearer to 1 than this differ by rounding only.
NEAREST_TO_ONE = 1e-6
# Half a right and half a wrong answer are added to what was seen, so that a model without mistakes is not infallible.
PRIOR = 0.5
# Keeps the slope finite where confidence tells right from wrong without fail; too weak to matter elsewhere.
RIDGE = 1e-2
ROUNDS, CLOSE, LONGEST_STEP = 100, 1e-9, 2.0


@dataclass(frozen=True)
class Estimate:
    """A metric of samples without labels: its expected value, and a 95 % interval of what labelling all would show.

    `count` samples were asked about, and `held_out` labelled ones tell what confidence is worth. `unlike` is the share
    that lies where no held-out sample does: there nothing is known, and `low` and `high` allow for anything.
    """

    metric: str
    value: float
    low: float
    high: float
    method: str
    count: int
    held_out: int
    unlike: float = 0.0
    notes: tuple[str, ...] = ()
    words: str = ""


def estimate_accuracy(samples: Samples, *, seed: int = 0) -> Estimate:
    """Return the accuracy that the model probably has on the samples without a label.

    On the labelled samples that are not of training, how often the model is right is fitted to its confidence, and the
    confidences on unlabelled samples are put in. That holds where the model is as right at a confidence as it was
    before; among samples unlike those held out it need not be, so their share is measured in the latent space, and the
    interval is opened by it. Shifts that the latent space does not show stay unseen.
    """
    held, asked = _rows(samples)
    assert samples.probabilities is not None
    if not samples.has(CORRECT):
        raise AnalysisUnavailable(
            ANALYSIS, "no sample has both a label and a prediction.", hint="Evaluate labelled samples too."
        )
    right = samples.numbers(CORRECT)
    held &= np.isfinite(right)
    notes = _check(samples, held, asked)
    here, there = (confidence_scores(samples.probabilities[rows]) for rows in (held, asked))
    unlike = unlike_share(samples.latents[held], samples.latents[asked], seed)
    value, variance = carried_share(here, right[held] > 0, there)
    low, high = (float(side) for side in share_interval(*_as_counts(value, variance)))
    low, high, method = low * (1 - unlike), high * (1 - unlike) + unlike, "calibrated confidence"
    if unlike:
        notes += (
            f"At least {unlike:.0%} of the unlabelled samples lie where no held-out sample does. There the model's "
            "confidence proves nothing: label some of them first.",
        )
    count, known = int(asked.sum()), int(held.sum())
    words = (
        f"accuracy on {count:,} unlabelled samples is probably {value:.4g} [{low:.4g}, {high:.4g}], by {method} "
        f"of {known:,} held-out samples" + (f"; {unlike:.0%} are unlike these, so do not trust it" if unlike else "")
    )
    return Estimate("accuracy", value, low, high, method, count, known, unlike, notes, words)


def _rows(samples: Samples) -> tuple[BoolArray, BoolArray]:
    """Return which samples are held out with a label, and which have none; all with probabilities and latents."""
    if samples.probabilities is None or samples.probabilities.shape[1] < 2:
        raise AnalysisUnavailable(
            ANALYSIS, "it goes by the probabilities of two or more classes, and these samples have none."
        )
    usable = np.isfinite(samples.probabilities).all(axis=1) & samples.finite
    without = unlabelled(samples)
    training = np.array([one == TRAINING for one in samples.table[SUBSET].to_pylist()], np.bool_)
    return np.asarray(usable & ~without & ~training), np.asarray(usable & without)


def _check(samples: Samples, held: BoolArray, asked: BoolArray) -> tuple[str, ...]:
    """Raise where there is nothing to learn from or nothing to tell; return what is left out."""
    without = int(unlabelled(samples).sum())
    if not asked.any():
        why = f"of {without:,} samples without a label none has probabilities and a latent vector" if without else ""
        raise AnalysisUnavailable(ANALYSIS, f"{why or 'each sample has a label, so its metrics are known'}.")
    known = int(held.sum())
    if known < FEWEST:
        raise AnalysisUnavailable(
            ANALYSIS,
            f"{known} labelled samples outside {TRAINING!r} have accuracy and probabilities, and {FEWEST} are needed.",
            hint="What a model says of its training samples tells nothing about others: evaluate a validation subset.",
        )
    missing = without - int(asked.sum())
    return (f"{missing:,} of {without:,} unlabelled samples are left out: they failed.",) if missing else ()


def _as_counts(share: float, variance: float) -> tuple[float, float]:
    """Return the right and all answers of a plain count that would be as sure of this share."""
    count = share * (1 - share) / variance
    return share * count, count


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
