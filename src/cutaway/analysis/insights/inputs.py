"""Whether the held-out samples of a slice look different from the training samples that meet the same conditions.

Latent vectors are compared by their energy distance, with the samples dealt out at random; columns of metadata one by
one. Both must differ by more than the same subsets differ elsewhere: a model that knows its training by heart has
training and validation apart everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.drifting import Drift, column_drift
from cutaway.analysis.insights.values import ALARMS
from cutaway.analysis.samples import Samples
from cutaway.analysis.statistics.intervals import normal_tail
from cutaway.arrays import BoolArray, Float64Array, IndexArray, Int64Array

__all__ = ["Apartness", "inputs_apart"]

# So many samples of each side are compared at most, and of fewer nothing is said.
MOST, FEWEST = 300, 20
# Deals of the two sides, and draws of comparable samples elsewhere.
DEALS, ELSEWHERE = 100, 12
# The least distance, from 0 to 1, beyond that elsewhere, and by how many of its standard deviations.
LATENTS_APART, DEVIATIONS = 0.012, 5.0
# The same of a column: the largest difference of shares.
COLUMN_APART = 0.15


@dataclass(frozen=True)
class Apartness:
    """How far two sides are apart in latent space, and the column in which they differ most, where one does.

    `distance` goes from 0, alike, to 1; `elsewhere` is what comparable samples of both sides have on average. They are
    NaN where latent vectors do not tell the sides apart.
    """

    distance: float
    elsewhere: float
    column: Drift | None


def inputs_apart(  # noqa: PLR0917  two sides, and the same two elsewhere
    samples: Samples,
    columns: Sequence[Described],
    kinds: Int64Array,
    inside: tuple[BoolArray, BoolArray],
    outside: tuple[BoolArray, BoolArray],
    claims: int,
    rng: np.random.Generator,
) -> Apartness | None:
    """Return how the two sides of a slice differ beyond what they do outside of it; None where chance would do.

    `inside` are its held-out and its training samples, `outside` all others; `claims` is how often this is asked.
    `kinds` are numbers for what may differ without a gap, such as class and whether the answer is right: more wrong
    answers lie elsewhere in latent space than fewer do.
    """
    if min(int(side.sum()) for side in (*inside, *outside)) < FEWEST:
        return None
    bound = ALARMS / max(claims, 1)
    column = _column(columns, inside, outside, bound)
    latents = _latents(samples, kinds, inside, outside, bound, rng)
    if latents is None:
        return None if column is None else Apartness(float("nan"), float("nan"), column)
    return Apartness(*latents, column)


def _column(
    columns: Sequence[Described],
    inside: tuple[BoolArray, BoolArray],
    outside: tuple[BoolArray, BoolArray],
    bound: float,
) -> Drift | None:
    found = []
    for column in columns:
        here, there = column_drift(column, *inside), column_drift(column, *outside)
        if here is None or here.chance * len(columns) > bound:
            continue
        if here.distance - (0.0 if there is None else there.distance) >= COLUMN_APART:
            found.append(here)
    return max(found, key=lambda one: one.distance, default=None)


def _latents(  # noqa: PLR0917  two sides, and the same two elsewhere
    samples: Samples,
    kinds: Int64Array,
    inside: tuple[BoolArray, BoolArray],
    outside: tuple[BoolArray, BoolArray],
    bound: float,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """Return the distance of the two sides and that of comparable ones, where the first is clearly larger."""
    sides = [_some(np.flatnonzero(side & samples.finite), rng) for side in inside]
    others = [np.flatnonzero(side & samples.finite) for side in outside]
    if min(len(side) for side in (*sides, *others)) < FEWEST:
        return None
    distance, chance = _energy(samples, sides, rng, DEALS)
    if chance > bound:
        return None
    drawn = []
    for _ in range(ELSEWHERE):
        alike = [_alike(kinds, side, other, rng) for side, other in zip(sides, others, strict=True)]
        drawn.append(_energy(samples, alike, rng, 0)[0])
    elsewhere, spread = float(np.mean(drawn)), float(np.std(drawn, ddof=1))
    if distance - elsewhere < max(LATENTS_APART, DEVIATIONS * spread):
        return None
    return distance, max(0.0, elsewhere)


def _some(rows: IndexArray, rng: np.random.Generator) -> IndexArray:
    return rows if len(rows) <= MOST else rng.choice(rows, MOST, replace=False)


def _alike(kinds: Int64Array, like: IndexArray, among: IndexArray, rng: np.random.Generator) -> IndexArray:
    """Draw as many rows as `like` has, of the same kinds where there are any."""
    drawn = []
    for kind, count in zip(*np.unique(kinds[like], return_counts=True), strict=True):
        own = among[kinds[among] == kind]
        own = own if len(own) else among
        drawn.append(rng.choice(own, count, replace=len(own) < count))
    return np.concatenate(drawn)


def _energy(samples: Samples, sides: Sequence[IndexArray], rng: np.random.Generator, deals: int) -> tuple[float, float]:
    """Return the energy distance of two sides as a share of the mean distance between them, and its chance.

    The chance is that of a gamma distribution with the mean, spread and skew of the deals.
    """
    rows = np.concatenate(sides)
    away = _distances(samples.latents[rows].astype(np.float64))
    first = np.zeros(len(rows), np.bool_)
    first[: len(sides[0])] = True
    dealt = np.stack([first, *(rng.permutation(first) for _ in range(deals))]).astype(np.float64)
    within, total = dealt @ away, away.sum(axis=1)
    own = (within * dealt).sum(axis=1)
    between = within @ np.ones(len(rows)) - own
    other = float(total.sum()) - own - 2 * between
    count, rest = len(sides[0]), len(sides[1])
    mean = between / (count * rest)
    values = 1 - (own / (count * (count - 1)) + other / (rest * (rest - 1))) / (2 * np.maximum(mean, 1e-12))
    return float(values[0]), _chance(values[0], values[1:]) if deals else 1.0


def _distances(vectors: Float64Array) -> Float64Array:
    squares = (vectors**2).sum(axis=1)
    away = squares[:, None] + squares - 2 * vectors @ vectors.T
    np.fill_diagonal(away, 0.0)
    return np.asarray(np.sqrt(np.maximum(away, 0.0)), np.float64)


def _chance(value: float, dealt: Float64Array) -> float:
    spread = float(dealt.std(ddof=1))
    if spread == 0:
        return 1.0
    plain = (value - float(dealt.mean())) / spread
    skew = max(float((((dealt - dealt.mean()) / spread) ** 3).mean()), 1e-3)
    # Wilson and Hilferty: the cube root of a gamma distribution is all but normal.
    bent = 6 / skew * (np.cbrt(max(skew * plain / 2 + 1, 1e-9)) - 1) + skew / 6
    return float(normal_tail(bent))
