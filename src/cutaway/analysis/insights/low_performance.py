"""Slices that do worse than the rest, found by their metadata, class, cluster and prediction, each told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.insights.advising import Advice, advise
from cutaway.analysis.insights.chances import ALARMS
from cutaway.analysis.insights.columns import describing
from cutaway.analysis.insights.judging import Judged
from cutaway.analysis.insights.values import Insight
from cutaway.analysis.insights.wording import change, named, times, told
from cutaway.analysis.samples import LABEL, PREDICTION, Samples
from cutaway.analysis.slices import find_slices
from cutaway.arrays import BoolArray, Int64Array
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.wording import counted

__all__ = ["CLUSTER", "low_performance", "with_clusters"]

CLUSTER = "cluster"
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
    first: bool  # found by metadata and classes together, which the finder has told apart already


@dataclass(frozen=True)
class _KeptSlice:
    """A slice, the other names of the same one, and slices that lie within it."""

    found: _Found
    also: list[str]
    within: list[_Found]


def with_clusters(samples: Samples, clusters: Int64Array | None) -> pa.Table:
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
    table = with_clusters(samples, clusters)
    found = [
        one
        for place, names in enumerate(_searches(samples, table))
        for one in _slices(table, names, judged, first=place == 0, seed=seed, progress=progress)
    ]
    found = [one for one in found if _worth_telling(judged, one.rows)]
    # Those that the finder has told apart first; of each, the one that would take away most.
    found.sort(key=lambda one: (not one.first, -_saved(judged, one.rows), one.where))
    kept: list[_KeptSlice] = []
    for one in found:
        known = [other.found for other in kept]
        double, around = _double(one, known, judged), _around(one, known)
        if double is None and around is None:
            kept.append(_KeptSlice(one, [], []))
        elif double is None and around is not None:
            kept[around].within.append(one)
        elif double is not None and _share_of(one.rows, known[double].rows) >= 0.5:
            kept[double].also.append(named(one.where))
    return [
        _told(samples, judged, one, advise(samples, table, judged, one.found.where, one.found.rows, wrong_labels))
        for one in kept
    ]


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
        slices = find_slices(columns, judged.outcome[judged.rows], alpha=alpha, seed=seed, progress=progress)
    except AnalysisUnavailable:
        return []  # all outcomes, or all values of the columns, are the same: nothing is worse than the rest
    return [_Found(tuple(one.where), _whole(one.rows, judged), float(one.p), first) for one in slices]


def _whole(rows: BoolArray, judged: Judged) -> BoolArray:
    """Return rows among the judged ones as rows among all."""
    mask = np.zeros(len(judged.rows), np.bool_)
    mask[np.flatnonzero(judged.rows)[rows]] = True
    return mask


def _worth_telling(judged: Judged, rows: BoolArray) -> bool:
    """Return whether the means show it too: ranks may be sure of a difference that would buy nothing."""
    inside, outside = judged.means(rows)
    low, _ = judged.interval(rows)
    return low > 0 and inside - outside >= SMALLEST * abs(judged.overall)


def _saved(judged: Judged, rows: BoolArray) -> float:
    """Return how much error or loss would be gone if a slice did as well as the rest."""
    inside, outside = judged.means(rows)
    return (inside - outside) * int(rows.sum())


def _double(one: _Found, kept: Sequence[_Found], judged: Judged) -> int | None:
    """Return the slice that says the same as this one, or because of which this one looks bad."""
    for place, other in enumerate(kept):
        both = int((one.rows & other.rows).sum())
        if both >= SAME * int((one.rows | other.rows).sum()):
            return place
    if one.first or not kept:
        return None
    # Found by a cluster or a prediction: what is left of it without the slices that are known already?
    known = np.logical_or.reduce([other.rows for other in kept])
    whole = _effect(judged, one.rows, judged.rows)
    if _effect(judged, one.rows & ~known, judged.rows & ~known) >= OWN * whole:
        return None
    return int(np.argmax([int((one.rows & other.rows).sum()) for other in kept]))


def _effect(judged: Judged, rows: BoolArray, among: BoolArray) -> float:
    own, rest = judged.scaled[rows], judged.scaled[among & ~rows]
    return float(own.mean() - rest.mean()) if len(own) and len(rest) else 0.0


def _told(samples: Samples, judged: Judged, kept: _KeptSlice, advice: Advice) -> Insight:
    one = kept.found
    inside, outside = judged.means(one.rows)
    low, high = judged.interval(one.rows)
    count, share = int(one.rows.sum()), float(one.rows.sum() / judged.rows.sum())
    texts = told(judged.measure, inside, outside)
    less = [share * effect for effect in (inside - outside, max(low, 0.0), high)]
    how_many = counted(count, "sample")
    return Insight(
        "low-performance",
        f"{named(one.where)}: {judged.noun} {texts[0]} on {how_many} of {judged.words}, {texts[1]} elsewhere"
        f"{times(inside, outside)}{_core(judged, kept)}.",
        one.rows,
        samples.ids[judged.worst(one.rows)],
        min(1.0, max(0.0, _saved(judged, one.rows) / max(float(judged.outcome[judged.rows].sum()), 1e-12))),
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
        f"At most: with the {judged.noun} of the rest there, {change(judged.measure, judged.overall, less)}.",
        tuple(kept.also),
        {**advice.evidence, "within": [list(core.where) for core in kept.within]},
    )


def _core(judged: Judged, kept: _KeptSlice) -> str:
    """Say where within a slice it is worst."""
    if not kept.within:
        return ""
    worst = max(kept.within, key=lambda one: judged.means(one.rows)[0])
    inside = told(judged.measure, judged.means(worst.rows)[0])[0]
    return f"; worst where {named(worst.where)} ({inside} of {int(worst.rows.sum()):,})"
