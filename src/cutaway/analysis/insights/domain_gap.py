"""Subsets that differ from each other: one insight for each pair, with what differs and what explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cutaway.analysis.insights.chances import ALARMS
from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.drifting import Drift, Separation, column_drift, latent_separation
from cutaway.analysis.insights.judging import FEWEST, TRAINING, Judged, subsets_of
from cutaway.analysis.insights.reweighting import as_if_mixed
from cutaway.analysis.insights.values import Insight
from cutaway.analysis.insights.wording import figures, percent, told
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import Samples
from cutaway.analysis.statistics.false_shares import holm
from cutaway.arrays import BoolArray

__all__ = ["domain_gaps"]

# The least distance worth a word, from 0 (alike) to 1 (apart); and so many columns are named.
SMALLEST, MOST_NAMED = 0.1, 3
# More pairs of subsets than this are nobody's plan; the largest subsets are compared.
MOST_SUBSETS = 4


@dataclass(frozen=True)
class _Pair:
    first: str
    second: str
    inside: BoolArray
    outside: BoolArray
    drifts: tuple[Drift, ...]
    latent: Separation | None
    own: np.ndarray | None


@dataclass(frozen=True)
class _Graph:
    """Who is near whom, and chance to deal the samples out by."""

    nearest: Nearest
    rng: np.random.Generator


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
    graph = _Graph(nearest, rng)
    pairs = [
        _compared((second, first), (rows_of[second], rows_of[first]), columns, graph)
        for first, second in combinations(ordered, 2)
    ]
    tested: list[Drift | Separation] = []
    for pair in pairs:
        tested += [*pair.drifts, *([pair.latent] if pair.latent else [])]
    chances = {id(one): float(p) for one, p in zip(tested, holm([one.chance for one in tested]), strict=True)}
    real = {key: p for key, p in chances.items() if p <= ALARMS}
    found = [_told(samples, pair, real, judged) for pair in pairs]
    return [one for one in found if one is not None]


def _compared(
    names: tuple[str, str], rows: tuple[BoolArray, BoolArray], columns: Sequence[Described], graph: _Graph
) -> _Pair:
    drifts = tuple(one for column in columns if (one := column_drift(column, *rows)) is not None)
    latent = latent_separation(graph.nearest, *rows, graph.rng)
    separation, own = latent if latent is not None else (None, None)
    return _Pair(*names, *rows, drifts, separation, own)


def _told(samples: Samples, pair: _Pair, real: dict[int, float], judged: Judged | None) -> Insight | None:
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
            f"{percent(latent.own)} of neighbours in latent space are of the own subset, where mixing would give "
            f"{percent(latent.expected)}"
        )
    distances = [one.distance for one in drifts] + ([latent.distance] if latent else [])
    chances = [real[id(one)] for one in drifts] + ([real[id(latent)]] if latent else [])
    top = drifts[0] if drifts else None
    return Insight(
        "domain-gap",
        f"{pair.first} differs from {pair.second}: {'; '.join(parts)}.",
        pair.inside,
        samples.ids[_typical(pair, top)],
        min(1.0, max(distances)),
        (f"subset = {pair.first}",),
        pair.first,
        float(pair.inside.mean()),
        "distance" if top is None else top.column.name,
        top.inside if top else pair.latent.own if pair.latent else float("nan"),
        top.outside if top else pair.latent.expected if pair.latent else float("nan"),
        p=min(chances),
        action=_action(pair, top),
        buys=_buys(pair, top, judged),
        evidence={
            "against": pair.second,
            "columns": {one.column.name: one.distance for one in drifts},
            "latent": None if pair.latent is None else pair.latent.distance,
        },
    )


def _drifted(one: Drift) -> str:
    if one.value is None:
        here, there = figures(one.inside, one.outside)
        size = "median " if one.inside != one.outside else "spread, not median, "
        return f"{one.column.name} {size}{here} against {there} (distance {one.distance:.2f})"
    what = f"{one.column.name} {one.value}"
    return f"{what} in {percent(one.inside)} against {percent(one.outside)} (distance {one.distance:.2f})"


def _action(pair: _Pair, top: Drift | None) -> str:
    if top is None:
        other = " or were learned by heart" if pair.second == TRAINING else ""
        return (
            f"Find out how samples of {pair.first} were taken, for no column explains it{other}. Split again at random "
            "if both should be alike."
        )
    surplus = round(top.distance * int(pair.outside.sum()))
    return (
        f"Split again at random if both should be alike. If {pair.first} is what the model will meet, balance "
        f"{pair.second} by {top.column.name}: {surplus:,} of its {int(pair.outside.sum()):,} samples are of kinds that "
        "are too common there."
    )


def _buys(pair: _Pair, top: Drift | None, judged: Judged | None) -> str:
    """Say what the error would be with the other subset's mix of the column that differs most."""
    if top is None or judged is None or not (judged.rows & pair.inside).sum() >= FEWEST:
        return ""
    found = as_if_mixed(top.column, judged.outcome, judged.rows & pair.inside, pair.outside)
    if found is None:
        return ""
    texts = told(judged.measure, found.before, found.after, found.low, found.high)
    return (
        f"With {pair.second}'s mix of {top.column.name}, {judged.noun} on {pair.first} would read {texts[1]} "
        f"({texts[2]} to {texts[3]}) instead of {texts[0]}."
    )


def _typical(pair: _Pair, top: Drift | None) -> int:
    """Return the row to look at first: one with the values that are too common, among its own subset's."""
    places = np.flatnonzero(pair.inside)
    own = np.zeros(len(places)) if pair.own is None else np.nan_to_num(pair.own[places])
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
