"""Slices that do worse than the rest, found by their metadata, class, cluster and prediction, each told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.filters.condition import CLUSTER
from cutaway.analysis.insights.columns import describing
from cutaway.analysis.insights.judging import Judged
from cutaway.analysis.insights.values import ALARMS, Insight
from cutaway.analysis.insights.wording import change, named, times, told
from cutaway.analysis.samples import LABEL, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.held_out import TRAINING
from cutaway.analysis.slices import find_slices
from cutaway.arrays import BoolArray, Int64Array
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.wording import counted, percent

__all__ = ["low_performance"]

# Slices that share so much of all their rows are one.
SAME = 0.8
# A slice found another way that keeps less than this share of its effect without the rows of those before is theirs.
OWN = 0.5
# The least difference that is worth a word, as a share of the overall mean.
SMALLEST = 0.1
# A slice with so much smaller a share of training than of what is judged lacks samples.
RARE = 0.8
# From this share of likely wrong labels among the errors on, relabelling comes first.
WRONG_LABELS = 0.3


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
    return [_told(samples, judged, one, *_advice(samples, table, judged, one.found, wrong_labels)) for one in kept]


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


def _advice(
    samples: Samples, table: pa.Table, judged: Judged, one: _Found, wrong_labels: BoolArray
) -> tuple[str, dict[str, int]]:
    """Return what to do about a slice (relabel, balance or collect, how many samples), and the figures behind it.

    The slice's share of the judged samples stands against its share of all training samples, outcome or not.
    """
    rows = one.rows
    wrong = rows & (judged.outcome > 0) if judged.measure == "error" else rows
    errors, suspicious = int(wrong.sum()), int((wrong & wrong_labels).sum())
    evidence = {"wrong": errors, "likely_mislabeled": suspicious}
    conditions = [parse_filter(text, table) for text in one.where]
    by_prediction = any(condition.column == PREDICTION for condition in conditions)
    compared = bool(judged.training.any()) and not by_prediction
    trained = np.asarray(samples.table[SUBSET].to_pylist(), object) == TRAINING
    has, total = int((rows_where(table, conditions) & trained).sum()), int(trained.sum())
    share = float(rows.sum() / judged.rows.sum())
    rare = compared and share < 1 and has < RARE * share * total
    # A model is no judge of the labels of what it was hardly trained with: there its own errors look like wrong labels.
    if judged.measure == "error" and suspicious >= WRONG_LABELS * errors and not rare:
        words = f"Relabel first: {suspicious:,} of its {counted(errors, 'error')} are probably wrong labels."
        return words, evidence
    if not compared:
        which = f"its {counted(errors, 'error')}" if judged.measure == "error" else "those with the largest loss"
        return f"Look at {which} and collect more samples like them.", evidence
    enough = f"Training already has {has:,} such samples, but the model still struggles: collect or augment more."
    words = _balance(has, total, share, judged.words) if rare else enough
    return words, {**evidence, "training": has}


def _balance(has: int, total: int, share: float, judged: str) -> str:
    """Say how many samples training lacks, going by the slice's share of what is judged."""
    missing = round((share * total - has) / (1 - share))
    weigh = f", or give the {has:,} in training more weight" if has else ""
    return (
        f"Balance: {percent(has / total)} of training is like this, but {percent(share)} of {judged}. Collect about "
        f"{missing:,} more{weigh}."
    )


def _told(samples: Samples, judged: Judged, kept: _KeptSlice, advice: str, evidence: dict[str, int]) -> Insight:
    """Return the insight: figures are of the judged rows alone, inside the slice and outside of it.

    What it buys at most is the overall mean if the slice did as well as the rest: the mean less the slice's share
    times its effect, with the ends of the effect's interval for those of the range.
    """
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
        judged.at_stake(_saved(judged, one.rows)),
        one.where,
        judged.words,
        share,
        judged.measure,
        inside,
        outside,
        low,
        high,
        one.p,
        advice,
        f"At most, {change(judged.measure, judged.overall, less)}.",
        tuple(kept.also),
        evidence={**evidence, "within": [list(core.where) for core in kept.within]},
        is_share=judged.measure == "error",
    )


def _core(judged: Judged, kept: _KeptSlice) -> str:
    """Say where within a slice it is worst."""
    if not kept.within:
        return ""
    worst = max(kept.within, key=lambda one: judged.means(one.rows)[0])
    inside = told(judged.measure, judged.means(worst.rows)[0])[0]
    return f"; worst where {named(worst.where)} ({inside} on {counted(int(worst.rows.sum()), 'sample')})"
