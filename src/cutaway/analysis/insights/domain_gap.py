"""Subsets that differ from each other: one insight for each pair, with what differs and what explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.drifting import Drift, Separation, column_drift, latent_separation
from cutaway.analysis.insights.judging import FEWEST, Judged, subsets_of
from cutaway.analysis.insights.values import ALARMS, Insight
from cutaway.analysis.insights.wording import figures, instead, told
from cutaway.analysis.insights.worth import HARD
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.held_out import TRAINING
from cutaway.analysis.statistics.false_shares import holm
from cutaway.analysis.statistics.intervals import Z95
from cutaway.arrays import BoolArray, Float64Array
from cutaway.wording import counted, percent

__all__ = ["as_if_mixed", "domain_gaps"]

# The least distance worth a word, from 0 (alike) to 1 (apart); and so many columns are named.
SMALLEST, MOST_NAMED = 0.1, 3
# More pairs of subsets than this are nobody's plan; the largest subsets are compared.
MOST_SUBSETS = 4
# A tenth of the other mix, or a value, of which there are fewer judged samples cannot be weighted up.
TENTHS, FEWEST_OF_PART = 10, 5


@dataclass(frozen=True)
class _Pair:
    first: str
    second: str
    inside: BoolArray
    outside: BoolArray
    drifts: tuple[Drift, ...]
    latent: Separation | None


def domain_gaps(
    samples: Samples,
    nearest: Nearest,
    columns: Sequence[Described],
    judged: Judged | None,
    rng: np.random.Generator,
) -> list[Insight]:
    """Return which subsets differ from each other more than chance and more than a little."""
    names, rows_of = subsets_of(samples)
    large = sorted((name for name in names if rows_of[name].sum() >= FEWEST), key=lambda one: -int(rows_of[one].sum()))
    # The rest is held against training, not the other way round.
    ordered = sorted(large[:MOST_SUBSETS], key=lambda name: (name != TRAINING, names.index(name)))
    pairs = []
    for second, first in combinations(ordered, 2):
        rows = rows_of[first], rows_of[second]
        drifts = tuple(one for column in columns if (one := column_drift(column, *rows)) is not None)
        pairs.append(_Pair(first, second, *rows, drifts, latent_separation(nearest, *rows, rng)))
    tested: list[Drift | Separation] = []
    for pair in pairs:
        tested += [*pair.drifts, *([pair.latent] if pair.latent else [])]
    chances = {id(one): float(p) for one, p in zip(tested, holm([one.chance for one in tested]), strict=True)}
    real = {key: p for key, p in chances.items() if p <= ALARMS}
    found = [_told(samples, pair, real, judged) for pair in pairs]
    return [one for one in found if one is not None]


def _told(samples: Samples, pair: _Pair, real: dict[int, float], judged: Judged | None) -> Insight | None:
    """Return the insight about the whole of one subset: its share of that subset is 1.

    Its figures are of the column that differs most, over the samples that have a value: the medians of numbers, the
    shares of the value that differs most; without a column the share of neighbours that are of the own subset, and what
    that would be if both were mixed.
    """
    drifts = sorted(
        (one for one in pair.drifts if id(one) in real and one.distance >= SMALLEST), key=lambda one: -one.distance
    )
    latent = pair.latent if pair.latent and id(pair.latent) in real and pair.latent.distance >= SMALLEST else None
    if not drifts and latent is None:
        return None
    parts = [_drifted(one) for one in drifts[:MOST_NAMED]]
    if len(drifts) > MOST_NAMED:
        parts.append(f"and {len(drifts) - MOST_NAMED} more columns differ")
    if latent is not None:
        parts.append(
            f"{percent(latent.own)} of neighbours in latent space are of the same subset ({percent(latent.expected)} "
            "if both were mixed)"
        )
    distances = [one.distance for one in drifts] + ([latent.distance] if latent else [])
    chances = [real[id(one)] for one in drifts] + ([real[id(latent)]] if latent else [])
    top = drifts[0] if drifts else None
    mixed = _if_mixed(pair, top, judged)
    return Insight(
        "domain-gap",
        f"{pair.first} differs from {pair.second}: {'; '.join(parts)}.",
        pair.inside,
        samples.ids[_typical(pair, top)],
        _severity(pair, max(distances), mixed, judged),
        (f"subset = {pair.first}",),
        pair.first,
        1.0,
        _measure(top),
        top.inside if top else pair.latent.own if pair.latent else float("nan"),
        top.outside if top else pair.latent.expected if pair.latent else float("nan"),
        p=min(chances),
        action=_action(pair, top),
        buys=_buys(pair, top, mixed, judged),
        sides=(pair.first, "if mixed" if top is None else pair.second),
        is_share=top is None or top.value is not None,
        evidence={
            "against": pair.second,
            "columns": {one.column.name: one.distance for one in drifts},
            "latent": None if pair.latent is None else pair.latent.distance,
        },
    )


def _measure(top: Drift | None) -> str:
    if top is None:
        return "neighbours of the same subset"
    return f"median {top.column.name}" if top.value is None else f"{top.column.name} = {top.value}"


def _drifted(one: Drift) -> str:
    if one.value is None:
        here, there = figures(one.inside, one.outside)
        size = "median " if one.inside != one.outside else "spread, not median, "
        return f"{one.column.name} {size}{here} against {there} (distance {one.distance:.2f})"
    what = f"{one.column.name} {one.value}"
    return f"{what} in {percent(one.inside)} against {percent(one.outside)} (distance {one.distance:.2f})"


def _action(pair: _Pair, top: Drift | None) -> str:
    if top is None:
        other = ", and whether the model memorised training" if pair.second == TRAINING else ""
        return (
            f"No column explains it: find out how the samples of {pair.first} were collected{other}. If both should be "
            "alike, split again at random."
        )
    known = int((pair.outside & top.column.known).sum())
    return (
        f"If both should be alike, split again at random. If {pair.first} is what the model will meet, balance "
        f"{pair.second} by {top.column.name}: of {counted(known, 'sample')} there, about "
        f"{round(top.distance * known):,} are of kinds that are too common."
    )


def _if_mixed(pair: _Pair, top: Drift | None, judged: Judged | None) -> Mixed | None:
    """Return what the judged samples' mean would be with the other mix of the column that differs most."""
    if top is None or judged is None or not (judged.rows & pair.inside).sum() >= FEWEST:
        return None
    return as_if_mixed(top.column, judged.outcome, judged.rows & pair.inside, pair.outside)


def _severity(pair: _Pair, distance: float, mixed: Mixed | None, judged: Judged | None) -> float:
    """Return what the other mix would buy; the distance where nobody knows, and a part of it where it buys nothing."""
    if judged is None or not (judged.rows & pair.inside).any():
        return min(1.0, distance)
    gained = 0.0
    if mixed is not None and mixed.high < mixed.before:
        gained = judged.at_stake((mixed.before - mixed.after) * int((judged.rows & pair.inside).sum()))
    return max(HARD * min(1.0, distance), gained)


def _buys(pair: _Pair, top: Drift | None, mixed: Mixed | None, judged: Judged | None) -> str:
    """Say what the error would be with the other subset's mix of the column that differs most."""
    if top is None or mixed is None or judged is None or not instead(mixed.before, mixed.after):
        return ""
    texts = told(judged.measure, mixed.before, mixed.after, mixed.low, mixed.high)
    return (
        f"With {pair.second}'s mix of {top.column.name}, {judged.noun} on {pair.first} would be {texts[1]} "
        f"({texts[2]} to {texts[3]}) instead of {texts[0]}."
    )


@dataclass(frozen=True)
class Mixed:
    """A mean as it is, and as it would be with the other mix, with a 95 % interval."""

    before: float
    after: float
    low: float
    high: float


def as_if_mixed(column: Described, outcome: Float64Array, inside: BoolArray, mix: BoolArray) -> Mixed | None:
    """Return the mean of `outcome` over `inside` weighted to the mix of a column's values in `mix` (post-stratified).

    None where a tenth or more of the mix has next to no samples inside: nothing is known of those.
    """
    parts = _parts(column, mix)
    count = int(parts.max(initial=0)) + 1
    own = np.bincount(parts[inside & (parts >= 0)], minlength=count)
    wanted = np.bincount(parts[mix & (parts >= 0)], minlength=count).astype(np.float64)
    covered = own >= FEWEST_OF_PART
    if not wanted.sum() or wanted[covered].sum() < 0.9 * wanted.sum():
        return None
    weights = np.where(covered, wanted, 0.0) / wanted[covered].sum()
    used = inside & (parts >= 0)
    sums = np.bincount(parts[used], outcome[used], count)
    squares = np.bincount(parts[used], outcome[used] ** 2, count)
    safe = np.maximum(own, 1)
    means = sums / safe
    errors = np.maximum(squares / safe - means**2, 0.0) / safe
    after, error = float(weights @ means), float(np.sqrt(weights**2 @ errors))
    return Mixed(float(outcome[inside].mean()), after, max(0.0, after - Z95 * error), after + Z95 * error)


def _parts(column: Described, mix: BoolArray) -> np.ndarray:
    if column.numbers is None:
        return column.codes
    known = np.isfinite(column.numbers)
    if not (mix & known).any():
        return np.full(len(known), -1)
    cuts = np.unique(np.quantile(column.numbers[mix & known], np.linspace(0, 1, TENTHS + 1)[1:-1]))
    return np.where(known, np.searchsorted(cuts, np.nan_to_num(column.numbers), "right"), -1)


def _typical(pair: _Pair, top: Drift | None) -> int:
    """Return the row to look at first: one with the values that are too common, among its own subset's."""
    places = np.flatnonzero(pair.inside)
    own = np.zeros(len(places)) if pair.latent is None else np.nan_to_num(pair.latent.shares[places])
    if top is None:
        return int(places[np.argmax(own)])
    if top.column.numbers is None:
        wanted = top.column.names.index(str(top.value))
        side = 1.0 if top.inside > top.outside else -1.0
        extreme = side * (top.column.codes[places] == wanted)
    else:
        side = 1.0 if top.inside >= top.outside else -1.0
        values = top.column.numbers[places]
        extreme = np.where(np.isfinite(values), side * values, -np.inf)
    return int(places[np.lexsort((-own, -extreme))[0]])
