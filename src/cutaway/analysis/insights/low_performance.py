"""Slices that do worse than the rest, found by their metadata, class, cluster and prediction, each told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.filters.condition import CLUSTER
from cutaway.analysis.insights.advice import Advice, Advisor
from cutaway.analysis.insights.columns import Described, describing
from cutaway.analysis.insights.judging import Judged
from cutaway.analysis.insights.values import ALARMS, Insight
from cutaway.analysis.insights.wording import change, named, times, told
from cutaway.analysis.insights.worth import SliceWorth, worth_among
from cutaway.analysis.samples import LABEL, PREDICTION, Samples
from cutaway.analysis.slices import find_slices
from cutaway.arrays import BoolArray, Int64Array
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.wording import counted

__all__ = ["HELD_BACK", "low_performance"]

HELD_BACK = (
    "Slices were confirmed in halves of the judged samples that did not choose them; what mending them buys is by "
    "these. Their own figures are of all judged samples, and somewhat high for what was chosen for them."
)
"""What is said wherever slices are told."""
# Slices that share so much of all their rows are one.
SAME = 0.8
# A slice found another way that keeps less than this share of its effect without the rows of those before is theirs.
OWN = 0.5
# The least difference that is worth a word, as a share of the overall mean.
SMALLEST = 0.1


@dataclass(frozen=True)
class _Found:
    where: tuple[str, ...]
    rows: BoolArray
    p: float
    held_back: float  # which share of its effect is left in halves that did not choose it
    first: bool  # found by metadata and classes together, which the finder has told apart already


@dataclass(frozen=True)
class _KeptSlice:
    """A slice, the other names of the same one, and slices that lie within it."""

    found: _Found
    also: list[str]
    within: list[_Found]


def _with_clusters(samples: Samples, clusters: Int64Array | None) -> pa.Table:
    """Return the table of samples with a column for their cluster, where there are clusters."""
    table = samples.table
    if clusters is None:
        return table
    # As texts: the numbers of clusters have no order.
    numbers = pa.array(clusters, pa.int64(), mask=np.asarray(clusters < 0)).cast(pa.string())
    if CLUSTER in table.column_names:
        table = table.drop_columns([CLUSTER])
    return table.append_column(CLUSTER, numbers)


def low_performance(
    samples: Samples,
    judged: Judged,
    columns: Sequence[Described],
    clusters: Int64Array | None,
    wrong_labels: BoolArray,
    *,
    seed: int = 0,
    progress: Listener | None = None,
) -> list[Insight]:
    """Return the slices that do worse than the rest.

    Metadata and classes are searched together, two deep. Clusters and predictions are searched on their own: a class
    and a prediction that differs from it are wrong by definition, and clusters are next to predictions.
    """
    table = _with_clusters(samples, clusters)
    worth = worth_among(samples, judged)
    found = [
        one
        for place, names in enumerate(_searches(samples, table))
        for one in _slices(table, names, judged, first=place == 0, seed=seed, progress=progress)
    ]
    found = [one for one in found if _worth_telling(worth, one)]
    # Those that the finder has told apart first; of each, the one that would take away most.
    found.sort(key=lambda one: (not one.first, -_saved(worth, one), one.where))
    kept: list[_KeptSlice] = []
    for one in found:
        known = [other.found for other in kept]
        double, around = _double(one, known, worth), _around(one, known)
        if double is None and around is None:
            kept.append(_KeptSlice(one, [], []))
        elif double is None and around is not None:
            kept[around].within.append(one)
        elif double is not None and _share_of(one.rows, known[double].rows) >= 0.5:
            kept[double].also.append(named(one.where))
    rng = np.random.default_rng([seed, 2])
    advisor = Advisor(samples, table, judged, columns, worth.classes, wrong_labels, len(kept), rng)
    wheres = [one.found.where for one in kept if _has_cause(one.found)]
    return [
        _told(
            samples,
            worth,
            one,
            advisor.advise(one.found.where, one.found.rows, [other for other in wheres if other != one.found.where]),
        )
        for one in kept
    ]


def _has_cause(one: _Found) -> bool:
    """Whether metadata tell the slice: they may be why others, such as a class, do badly too."""
    return not all(text.startswith((f"{LABEL} ", f"{PREDICTION} ", f"{CLUSTER} ")) for text in one.where)


def _share_of(rows: BoolArray, other: BoolArray) -> float:
    return float((rows & other).sum() / max(int(rows.sum()), 1))


def _around(one: _Found, kept: Sequence[_Found]) -> int | None:
    """Return the slice that this one is the core of."""
    return next((place for place, other in enumerate(kept) if _share_of(one.rows, other.rows) >= SAME), None)


def _searches(samples: Samples, table: pa.Table) -> list[list[str]]:
    """Return which columns are searched together; the first are metadata and classes."""
    together = [*describing(samples), *([LABEL] if samples.has(LABEL) else [])]
    alone = [name for name in (CLUSTER, PREDICTION) if name in table.column_names]
    return [together, *([name] for name in alone if table[name].null_count < table.num_rows)]


def _slices(
    table: pa.Table, names: Sequence[str], judged: Judged, *, first: bool, seed: int, progress: Listener | None
) -> list[_Found]:
    if not names:
        return []
    columns = table.select(list(names)).filter(pa.array(judged.rows))
    # The finder reports something of data without any fault in a fifth of `alpha` of the cases.
    alpha = 5 * ALARMS if first else ALARMS
    try:
        slices = find_slices(
            columns, judged.outcome[judged.rows], alpha=alpha, confirm=True, seed=seed, progress=progress
        )
    except AnalysisUnavailable:
        return []  # all outcomes, or all values of the columns, are the same: nothing is worse than the rest
    return [
        _Found(tuple(one.where), _whole(one.rows, judged), max(one.p, one.held_back.p), one.held_back.share, first)
        for one in slices
        if one.held_back is not None
    ]


def _whole(rows: BoolArray, judged: Judged) -> BoolArray:
    """Return rows among the judged ones as rows among all."""
    mask = np.zeros(len(judged.rows), np.bool_)
    mask[np.flatnonzero(judged.rows)[rows]] = True
    return mask


def _worth_telling(worth: SliceWorth, one: _Found) -> bool:
    """Return whether the means show it too, also beside comparable samples and in halves that did not choose it.

    Ranks may be sure of a difference that would buy nothing, and a column may go with a class that is hard.
    """
    judged = worth.judged
    inside, outside = judged.means(one.rows)
    low, _ = judged.interval(one.rows)
    least = SMALLEST * abs(judged.overall)
    return low > 0 and inside - outside >= least and one.held_back * worth.excess(one.rows) >= least


def _saved(worth: SliceWorth, one: _Found) -> float:
    """Return how much error or loss would be gone if a slice did as well as comparable samples."""
    return max(0.0, one.held_back * worth.excess(one.rows)) * int(one.rows.sum())


def _double(one: _Found, kept: Sequence[_Found], worth: SliceWorth) -> int | None:
    """Return the slice that says the same as this one, or because of which this one looks bad."""
    for place, other in enumerate(kept):
        both = int((one.rows & other.rows).sum())
        if both >= SAME * int((one.rows | other.rows).sum()):
            return place
    if one.first or not kept:
        return None
    # Found by a cluster or a prediction: what is left of it without the slices that are known already?
    judged = worth.judged
    known = np.logical_or.reduce([other.rows for other in kept])
    whole = _effect(judged, one.rows, judged.rows)
    if _effect(judged, one.rows & ~known, judged.rows & ~known) >= OWN * whole:
        return None
    return int(np.argmax([int((one.rows & other.rows).sum()) for other in kept]))


def _effect(judged: Judged, rows: BoolArray, among: BoolArray) -> float:
    own, rest = judged.scaled[rows], judged.scaled[among & ~rows]
    return float(own.mean() - rest.mean()) if len(own) and len(rest) else 0.0


def _told(samples: Samples, worth: SliceWorth, kept: _KeptSlice, advice: Advice) -> Insight:
    """Return the insight: figures are of the judged rows alone, inside the slice and outside of it.

    What it buys at most is the overall mean if the slice did as well as comparable samples: the mean less the slice's
    share times its excess, as far as halves that did not choose it confirm it. The range is as wide as the effect's.
    """
    one, judged = kept.found, worth.judged
    inside, outside = judged.means(one.rows)
    low, high = judged.interval(one.rows)
    count, share = int(one.rows.sum()), float(one.rows.sum() / judged.rows.sum())
    texts = told(judged.measure, inside, outside)
    excess = one.held_back * worth.excess(one.rows)
    shift = excess - (inside - outside)
    less = [share * effect for effect in (excess, max(low + shift, 0.0), high + shift)]
    gap = ": a domain gap" if advice.is_gap else ""
    return Insight(
        "domain-gap" if advice.is_gap else "low-performance",
        f"{named(one.where)}: {judged.noun} {texts[0]} on {counted(count, 'sample')} of {judged.words}, {texts[1]} "
        f"elsewhere{times(inside, outside)}{_core(judged, kept)}{gap}.",
        one.rows,
        samples.ids[judged.worst(one.rows)],
        advice.fixable * judged.at_stake(_saved(worth, one)),
        one.where,
        judged.words,
        share,
        judged.measure,
        inside,
        outside,
        low,
        high,
        one.p,
        advice.words,
        f"At most, {change(judged.measure, judged.overall, less)}.",
        tuple(kept.also),
        evidence={
            **advice.evidence,
            "comparable": worth.comparable(one.rows),
            "held_back": one.held_back,
            "fixable": advice.fixable,
            "slice": True,
            "within": [list(core.where) for core in kept.within],
        },
        is_share=judged.measure == "error",
    )


def _core(judged: Judged, kept: _KeptSlice) -> str:
    """Say where within a slice it is worst."""
    if not kept.within:
        return ""
    worst = max(kept.within, key=lambda one: judged.means(one.rows)[0])
    inside = told(judged.measure, judged.means(worst.rows)[0])[0]
    return f"; worst where {named(worst.where)} ({inside} on {counted(int(worst.rows.sum()), 'sample')})"
