"""How many labels are wrong: what contradicts them where the evidence is surest. Knows no wrong label. Pure.

Of hard samples the evidence contradicts many labels, of easy ones hardly any, unless they are wrong: the surer the
evidence is of some class, whatever the label, the fewer right labels it contradicts, while wrong ones are as many among
easy samples as among hard ones. So the share that is contradicted falls with sureness, and ends at the share of wrong
labels. How fast it falls and where it ends is unknown: every combination is weighed by how well it explains the counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["WrongShare", "estimate_rate", "places_of"]

# Samples are sorted by how sure the evidence is into so many places.
PLACES = 50
# The shares of wrong labels that are weighed, and how usual it is that none is wrong.
RATES = np.concatenate([[0.0], np.geomspace(5e-4, 0.45, 48)])
NO_WRONG = 0.2
# At place u from 0 to 1 a right label is contradicted with a logit of start - fall * u.
STARTS, FALLS = np.linspace(-5, 4, 19), np.geomspace(1, 60, 12)
# Of more classes none has a share of its own.
MOST_CLASSES = 100
DRAWN = 2_000
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True)
class WrongShare:
    """The share of wrong labels and the 95 % interval of what was weighed; the same by class, where classes differ.

    `flipped` says of each sample how likely its label is wrong if it is contradicted.
    """

    share: float
    low: float
    high: float
    by_class: Float64Array
    flipped: Float64Array


def places_of(sure: Float64Array, preferred: Int64Array | None = None) -> Int64Array:
    """Return the place of each sample, from the least sure to the surest, among all or among those of a class."""
    groups = np.zeros(len(sure), np.int64) if preferred is None else preferred
    order = np.lexsort((sure, groups))
    _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    found = np.empty(len(sure), np.int64)
    found[order] = (np.arange(len(sure)) - np.repeat(starts, sizes)) * PLACES // np.repeat(sizes, sizes)
    return found


def estimate_rate(
    places: Int64Array, contradicted: BoolArray, preferred: Int64Array, classes: int, seed: int
) -> WrongShare:
    """Return the share of wrong labels; `preferred` is the class that the evidence is for, as a number.

    Either all classes have the same share, or each has its own: both are weighed by how well they explain the counts.
    """
    many = classes > MOST_CLASSES
    codes = np.zeros_like(preferred) if many else preferred
    kinds = 1 if many else classes
    cells = codes * PLACES + places
    counts = np.bincount(cells, minlength=kinds * PLACES).reshape(kinds, PLACES).astype(np.float64)
    against = np.bincount(cells[contradicted], minlength=kinds * PLACES).reshape(kinds, PLACES).astype(np.float64)
    expected = _expected()
    likely = _likely(counts, against, expected)
    weighed = _weigh(likely)
    shares, low, high = _draw(weighed, counts.sum(axis=1) / max(len(places), 1), seed)
    flipped = np.stack([_flipped(likely[kind], weighed, kind, expected) for kind in range(kinds)])
    by_class = np.full(classes, shares[0]) if many else shares
    return WrongShare(
        float(shares @ (counts.sum(axis=1) / max(len(places), 1))), low, high, by_class, flipped[codes, places]
    )


def _expected() -> Float64Array:
    """Return the share that is contradicted: (rates, starts, falls, places)."""
    middle = (np.arange(PLACES) + 0.5) / PLACES
    hard = 1 / (1 + np.exp(FALLS[:, None] * middle - STARTS[:, None, None]))
    rates = RATES[:, None, None, None]
    return np.asarray(np.clip(rates + (1 - rates) * hard, 1e-9, 1 - 1e-9))


def _likely(counts: Float64Array, against: Float64Array, expected: Float64Array) -> Float64Array:
    flat = expected.reshape(-1, PLACES)
    found = against @ np.log(flat).T + (counts - against) @ np.log1p(-flat).T
    return np.asarray(found.reshape(len(counts), *expected.shape[:-1]))


@dataclass(frozen=True)
class _Weighed:
    """Logarithms of how likely each rate and fall is: for all classes alike (rates, falls), and class by class.

    `apart` is how likely it is that each class has a share of its own.
    """

    each: Float64Array
    alike: Float64Array
    own: Float64Array
    apart: float


def _weigh(likely: Float64Array) -> _Weighed:
    each = np.logaddexp.reduce(likely, axis=2) - np.log(len(STARTS))
    usual = np.full(len(RATES), (1 - NO_WRONG) / (len(RATES) - 1))
    usual[0] = NO_WRONG
    alike = each.sum(axis=0) + np.log(usual)[:, None]
    own = each + np.log(usual)[:, None]
    by_fall = np.logaddexp.reduce(own, axis=1).sum(axis=0)
    gain = np.logaddexp.reduce(by_fall) - np.logaddexp.reduce(alike, axis=None)
    return _Weighed(each, alike, own, float(1 / (1 + np.exp(-np.clip(gain, -50, 50)))))


def _draw(weighed: _Weighed, sizes: Float64Array, seed: int) -> tuple[Float64Array, float, float]:
    """Return the mean share of each class, and the interval of the share of all, of draws from what was weighed."""
    random = np.random.default_rng(seed)
    drawn = np.zeros((DRAWN, len(sizes)))
    apart = random.random(DRAWN) < weighed.apart
    pairs = random.choice(weighed.alike.size, int((~apart).sum()), p=_normal(weighed.alike.ravel()))
    drawn[~apart] = RATES[pairs // len(FALLS)][:, None]
    by_fall = np.logaddexp.reduce(weighed.own, axis=1).sum(axis=0)
    falls = np.full(DRAWN, -1)
    falls[apart] = random.choice(len(FALLS), int(apart.sum()), p=_normal(by_fall))
    for fall in np.unique(falls[apart]):
        rows = np.flatnonzero(falls == fall)
        for kind in range(len(sizes)):
            drawn[rows, kind] = RATES[random.choice(len(RATES), len(rows), p=_normal(weighed.own[kind, :, fall]))]
    low, high = np.quantile(drawn @ sizes, INTERVAL)
    return drawn.mean(axis=0), float(low), float(high)


def _flipped(likely: Float64Array, weighed: _Weighed, kind: int, expected: Float64Array) -> Float64Array:
    """Return for each place how likely a contradicted label of a class is wrong."""
    usual = weighed.own[kind] - weighed.each[kind]
    others = np.logaddexp.reduce(weighed.own, axis=1)
    alike = weighed.alike - weighed.each[kind] - np.logaddexp.reduce(weighed.alike, axis=None)
    total = others.sum(axis=0)
    own = usual + (total - others[kind]) - np.logaddexp.reduce(total)
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp(alike + np.log1p(-weighed.apart), own + np.log(weighed.apart))
    weights = _normal((likely + mixed[:, None, :]).ravel())
    return np.asarray(weights @ (RATES[:, None, None, None] / expected).reshape(-1, PLACES))


def _normal(logarithms: Float64Array) -> Float64Array:
    found = np.exp(logarithms - logarithms.max())
    return np.asarray(found / found.sum())
