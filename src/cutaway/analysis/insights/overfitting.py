"""Where training went much better than what was held out from it, beyond the gap that there is everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cutaway.analysis.filters.condition import CLUSTER
from cutaway.analysis.insights.columns import Region
from cutaway.analysis.insights.judging import Judged
from cutaway.analysis.insights.values import ALARMS, Insight
from cutaway.analysis.insights.wording import change, told
from cutaway.analysis.insights.worth import HARD
from cutaway.analysis.samples import LABEL, Samples
from cutaway.analysis.statistics.intervals import Z95, normal_tail
from cutaway.arrays import BoolArray, Float64Array
from cutaway.wording import counted

__all__ = ["overall_gap", "overfitted_regions"]

# Of fewer samples on either side of a region nothing is said.
FEWEST = 30
# The least gap worth a word: in error, and in mean rank of the loss from 0 to 1.
SMALLEST = {"error": 0.02, "loss": 0.05}
# The least that a region's gap is beyond the gap elsewhere.
SMALLEST_BEYOND = {"error": 0.03, "loss": 0.05}
# Newton's steps to the odds that fit, and the largest logarithm of them.
STEPS, LARGEST = 25, 12.0
# So many regions are told, and so many other names of each.
MOST, MOST_NAMED = 10, 3
_SIDES = ("held out", "training")


@dataclass(frozen=True)
class _Gap:
    """How far the gap between held-out and training samples of a region is beyond the gap elsewhere.

    `inside` and `outside` are the two gaps, held-out mean less training mean; `error` is the standard error of their
    difference `beyond`. `score` is how sure that is, in standard deviations: of errors also by their odds, for where
    more go wrong, more go wrong in addition, too.
    """

    region: Region
    inside: float
    outside: float
    error: float
    score: float

    @property
    def beyond(self) -> float:
        return self.inside - self.outside


def overall_gap(samples: Samples, judged: Judged) -> Insight | None:
    """Return the gap between training and held-out samples as a whole, where it is real and large enough."""
    if judged.training.sum() < FEWEST:
        return None
    values = judged.scaled
    held, trained = values[judged.rows], values[judged.training]
    gap, error = _difference(held, trained)
    p = float(2 * normal_tail(abs(gap) / error)) if error > 0 else 1.0
    if gap < SMALLEST[judged.measure] or p > ALARMS:
        return None
    means = float(judged.outcome[judged.rows].mean()), float(judged.outcome[judged.training].mean())
    if means[0] <= means[1]:
        # By rank most training samples do better, but some do so badly that the words would say the opposite.
        return None
    there, here = told(judged.measure, *means)
    low, high = gap - Z95 * error, gap + Z95 * error
    if judged.measure == "loss":
        low = high = float("nan")
    return Insight(
        "overfitting",
        f"The model does better on its training samples: {judged.noun} {here} on training, {there} on {judged.words}.",
        judged.rows,
        samples.ids[judged.worst(judged.rows)],
        HARD * judged.at_stake(max(0.0, means[0] - means[1]) * len(held)),
        subset=judged.words,
        share=1.0,
        measure=judged.measure,
        inside=means[0],
        outside=means[1],
        low=low,
        high=high,
        p=p,
        action="Regularise (augment, decay weights, stop earlier), or collect more training samples.",
        buys=f"At most, {judged.noun} falls from {there} to {here}.",
        sides=_SIDES,
        is_share=judged.measure == "error",
        evidence={"overall": True, "training": int(judged.training.sum()), "held_out": int(judged.rows.sum())},
    )


def overfitted_regions(samples: Samples, judged: Judged, regions: Iterable[Region]) -> list[Insight]:
    """Return the regions whose gap between training and held-out samples is beyond the gap elsewhere."""
    if judged.training.sum() < FEWEST:
        return []
    values, left = judged.scaled, list(regions)
    free, looks = np.ones(len(samples), np.bool_), 0
    found: list[Insight] = []
    while len(found) < MOST:
        gaps = [gap for region in left if (gap := _gap(values, judged, region, free)) is not None]
        looks = looks or len(gaps)
        real = [gap for gap in gaps if _real(gap, looks, judged.measure)]
        if not real:
            break
        # What is outside all regions before it: a region that only overlaps with one of them is none of its own.
        best = max(real, key=lambda gap: gap.score)
        insight = _told(samples, judged, best, min(1.0, looks * float(normal_tail(best.score))))
        # Ranks found it; where the means, which the words tell, say the opposite, it is not told.
        if insight.evidence["beyond"] > 0 and insight.effect > 0:
            others = [gap.region for gap in real if gap is not best and _overlap(gap.region.rows, best.region.rows)]
            found.append(replace(insight, also=tuple(region.words for region in others[:MOST_NAMED])))
        free &= ~best.region.rows
        left = [region for region in left if region is not best.region]
    return found


def _real(gap: _Gap, looks: int, measure: str) -> bool:
    p = looks * float(normal_tail(gap.score))
    return p <= ALARMS and gap.beyond >= SMALLEST_BEYOND[measure] and gap.inside > 0


def _has_cause(region: Region) -> bool:
    """Whether metadata tell the region: a class, a cluster or a place in latent space names no cause."""
    return any(not text.startswith((f"{LABEL} ", f"{CLUSTER} ")) for text in region.where)


def _overlap(first: BoolArray, second: BoolArray) -> bool:
    return int((first & second).sum()) >= 0.5 * int((first | second).sum())


def _difference(first: Float64Array, second: Float64Array) -> tuple[float, float]:
    """Return the difference of means and its standard error; one more yes and no each, lest none look certain."""
    error = 0.0
    for side in (first, second):
        count = len(side)
        smoothed = (side.sum() + 1) / (count + 2)
        spread = ((side - smoothed) ** 2).sum() + smoothed**2 + (1 - smoothed) ** 2
        error += spread / (count + 2) / (count + 2)
    return float(first.mean() - second.mean()), float(np.sqrt(error))


def _gap(values: Float64Array, judged: Judged, region: Region, free: BoolArray) -> _Gap | None:
    held_out, training = judged.rows & free, judged.training & free
    sides = [held_out & region.rows, training & region.rows]
    others = [held_out & ~region.rows, training & ~region.rows]
    if min(int(one.sum()) for one in (*sides, *others)) < FEWEST:
        return None
    inside, its_error = _difference(values[sides[0]], values[sides[1]])
    outside, other_error = _difference(values[others[0]], values[others[1]])
    error = float(np.hypot(its_error, other_error))
    score = (inside - outside) / error
    if judged.measure == "error":
        score = min(score, _odds_score(*(values[side] for side in (*sides, *others))))
    return _Gap(region, inside, outside, error, score)


def _odds_score(held: Float64Array, trained: Float64Array, held_rest: Float64Array, rest: Float64Array) -> float:
    """Return how surely the odds of an error rise more from training to held-out samples than they do elsewhere.

    It is the signed root of the likelihood ratio against a region that multiplies the odds of both sides alike.
    """
    sides = (held, trained, held_rest, rest)
    yes, count = (np.array([float(of(one)) for one in sides]) for of in (np.sum, len))
    terms = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0]], np.float64)
    found = np.zeros(3)
    for _ in range(STEPS):
        fitted = 1 / (1 + np.exp(-terms @ found))
        weights = count * fitted * (1 - fitted)
        # A hair of a ridge: cells may have no error at all.
        normal = terms.T @ (terms * weights[:, None]) + 1e-6 * np.eye(3)
        found = np.clip(found + np.linalg.solve(normal, terms.T @ (yes - count * fitted)), -LARGEST, LARGEST)
    fitted = np.clip(1 / (1 + np.exp(-terms @ found)), 1e-12, 1 - 1e-12)
    shares = np.clip(yes / count, 1e-12, 1 - 1e-12)
    gained = yes * np.log(shares / fitted) + (count - yes) * np.log((1 - shares) / (1 - fitted))
    return float(np.sign(shares[0] - fitted[0]) * np.sqrt(max(0.0, 2 * gained.sum())))


def _told(samples: Samples, judged: Judged, gap: _Gap, p: float) -> Insight:
    """Return the insight, its figures over all samples of the region and of the rest, also those of other regions.

    What it buys at most is the overall mean if the region's gap were that of the rest: the mean less the region's
    share of the judged samples times how far its gap is beyond.
    """
    region, rows = gap.region, judged.rows & gap.region.rows
    trained, count = judged.training & region.rows, int((judged.rows & gap.region.rows).sum())
    here, there = float(judged.outcome[rows].mean()), float(judged.outcome[trained].mean())
    elsewhere = [float(judged.outcome[side & ~region.rows].mean()) for side in (judged.rows, judged.training)]
    beyond = (here - there) - (elsewhere[0] - elsewhere[1])
    share = count / int(judged.rows.sum())
    texts = told(judged.measure, there, here, elsewhere[1], elsewhere[0])
    low = high = float("nan")
    least, most = beyond, beyond
    whole = _gap(judged.scaled, judged, region, np.ones(len(samples), np.bool_))
    if judged.measure == "error" and whole is not None:
        _, error = _difference(judged.outcome[rows], judged.outcome[trained])
        low, high = here - there - Z95 * error, here - there + Z95 * error
        least, most = beyond - Z95 * whole.error, beyond + Z95 * whole.error
    how_many = counted(int(trained.sum()), "training sample")
    return Insight(
        "overfitting",
        f"{region.words} is memorised: {judged.noun} {texts[0]} on its {how_many}, {texts[1]} on {count:,} of "
        f"{judged.words} (elsewhere {texts[2]} and {texts[3]}).",
        rows,
        samples.ids[judged.worst(rows)],
        (1.0 if _has_cause(region) else HARD) * judged.at_stake(beyond * count),
        region.where,
        judged.words,
        share,
        judged.measure,
        here,
        there,
        low,
        high,
        p,
        f"Collect or augment more such samples (training has {int(trained.sum()):,}), or regularise.",
        "At most, with no larger gap than elsewhere, "
        + change(judged.measure, judged.overall, [share * one for one in (beyond, max(least, 0.0), most)])
        + ".",
        sides=_SIDES,
        is_share=judged.measure == "error",
        evidence={
            "beyond": beyond,
            "training": there,
            "held_out": here,
            "training_elsewhere": elsewhere[1],
            "held_out_elsewhere": elsewhere[0],
            "training_count": int(trained.sum()),
            "cell": not region.where,
        },
    )
