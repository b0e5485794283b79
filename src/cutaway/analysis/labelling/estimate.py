"""How well the model probably does on samples without a label, and when that cannot be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.labelling.calibration import carried_share, confidence_scores
from cutaway.analysis.labelling.novelty import unlike_share
from cutaway.analysis.labelling.pool import TRAINING, unlabelled
from cutaway.analysis.samples import CORRECT, SUBSET, Samples
from cutaway.analysis.statistics.intervals import share_interval
from cutaway.arrays import BoolArray
from cutaway.errors import AnalysisUnavailable

__all__ = ["Estimate", "estimate_accuracy"]

ANALYSIS = "estimated metric"
# Fewer held-out samples tell too little to carry over.
FEWEST = 20


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
