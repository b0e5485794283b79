"""Where two subsets differ: in a column, in their classes, and in latent space. Tests; tells nothing in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.libraries import library
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.statistics.intervals import normal_tail
from cutaway.arrays import BoolArray, Float64Array

__all__ = ["Drift", "Separation", "column_drift", "latent_separation"]

# Values that fewer samples are expected to have in either subset are taken together.
FEWEST = 5
# So many neighbours are asked whose they are, with the subsets dealt out at random so many times.
NEIGHBOURS, DEALS = 5, 40


@dataclass(frozen=True)
class Drift:
    """How far two subsets differ in a column.

    `distance` goes from 0 (alike) to 1 (apart): the largest difference of cumulative shares of numbers (Kolmogorov and
    Smirnov), half the sum of differences of shares of values (total variation). `inside` and `outside` are medians of
    numbers, or shares of `value`, the one that differs most.
    """

    column: Described
    distance: float
    chance: float
    inside: float
    outside: float
    value: str | None = None


@dataclass(frozen=True)
class Separation:
    """How far neighbours keep to their own subset: `own` is the share that does, `expected` what mixing would give.

    `shares` is that of each row, NaN where it is not known. `distance` is 0 where the subsets are mixed, 1 where no
    neighbour is from the other one.
    """

    own: float
    expected: float
    distance: float
    chance: float
    shares: Float64Array


def column_drift(column: Described, inside: BoolArray, outside: BoolArray) -> Drift | None:
    """Return how far a column differs between two sets of samples; None where one of them has next to no values."""
    return _of_values(column, inside, outside) if column.numbers is None else _of_numbers(column, inside, outside)


def _of_numbers(column: Described, inside: BoolArray, outside: BoolArray) -> Drift | None:
    kolmogorov = library("scipy.special", "Insights").kolmogorov
    if column.numbers is None:
        return None
    first, second = (np.sort(column.numbers[side & np.isfinite(column.numbers)]) for side in (inside, outside))
    if min(len(first), len(second)) < FEWEST:
        return None
    points = np.concatenate([first, second])
    shares = [np.searchsorted(one, points, "right") / len(one) for one in (first, second)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    size = float(np.sqrt(len(first) * len(second) / (len(first) + len(second))))
    # Stephens' correction: without it the limit is too cautious for small sets.
    chance = float(kolmogorov((size + 0.12 + 0.11 / size) * distance))
    return Drift(column, distance, chance, float(np.median(first)), float(np.median(second)))


def _of_values(column: Described, inside: BoolArray, outside: BoolArray) -> Drift | None:
    chdtrc = library("scipy.special", "Insights").chdtrc
    used = column.codes >= 0
    counts = np.stack(
        [np.bincount(column.codes[side & used], minlength=len(column.names)) for side in (inside, outside)]
    ).astype(np.float64)
    sizes = counts.sum(axis=1)
    if sizes.min() < FEWEST:
        return None
    expected = counts.sum(axis=0) * sizes.min() / sizes.sum()
    common = expected >= FEWEST
    pooled = np.concatenate([counts[:, common], counts[:, ~common].sum(axis=1, keepdims=True)], axis=1)
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    if pooled.shape[1] < 2:
        return None
    fitted = np.outer(sizes, pooled.sum(axis=0)) / sizes.sum()
    chance = float(chdtrc(pooled.shape[1] - 1, float(((pooled - fitted) ** 2 / fitted).sum())))
    shares = counts / sizes[:, None]
    most = int(np.abs(shares[0] - shares[1]).argmax())
    pooled_shares = pooled / sizes[:, None]
    distance = float(np.abs(pooled_shares[0] - pooled_shares[1]).sum() / 2)
    return Drift(column, distance, chance, float(shares[0][most]), float(shares[1][most]), column.names[most])


def latent_separation(
    nearest: Nearest, inside: BoolArray, outside: BoolArray, rng: np.random.Generator
) -> Separation | None:
    """Return how far neighbours keep to their own of two sets of samples.

    The chance comes from dealing the samples out at random: the graph of neighbours stays as it is.
    """
    both = inside | outside
    rows = np.flatnonzero(both & (nearest.indices[:, :1] >= 0).any(axis=1))
    if len(rows) < 10 * NEIGHBOURS:
        return None
    targets = _near(nearest, rows, both)
    known = (targets >= 0) & both[targets]
    if 2 * known.sum() < len(rows):
        return None
    sides = inside.astype(np.int8)
    same = (sides[targets] == sides[rows][:, None]) & known
    own = float(same.sum() / known.sum())
    dealt = np.empty(DEALS)
    places = np.flatnonzero(both)
    for deal in range(DEALS):
        shuffled = sides.copy()
        shuffled[places] = sides[rng.permutation(places)]
        dealt[deal] = ((shuffled[targets] == shuffled[rows][:, None]) & known).sum() / known.sum()
    expected, spread = float(dealt.mean()), float(dealt.std(ddof=1))
    if expected >= 1 or spread == 0:
        return None
    shares = np.full(len(both), np.nan)
    shares[rows] = same.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    chance = float(normal_tail((own - expected) / spread))
    return Separation(own, expected, (own - expected) / (1 - expected), chance, shares)


def _near(nearest: Nearest, rows: np.ndarray, both: BoolArray) -> np.ndarray:
    """Return neighbours of rows: few, or all where most of the few are of a third subset."""
    few = nearest.indices[rows, :NEIGHBOURS]
    return few if ((few >= 0) & both[few]).sum() >= len(rows) else nearest.indices[rows]
