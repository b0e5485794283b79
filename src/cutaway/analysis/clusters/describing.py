"""`describe_clusters`: what each cluster consists of, how the model does in it, and which columns set it apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.clusters.splits import Split, Tested, compare_splits, splits_of
from cutaway.analysis.clusters.values import Clusters
from cutaway.analysis.clusters.words import ClassShare, ClusterWords, Rate, Trait
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET, Samples
from cutaway.analysis.samples.held_out import judged_rows, subsets_with
from cutaway.analysis.samples.samples import doubles_of
from cutaway.analysis.statistics.intervals import share_interval
from cutaway.arrays import BoolArray, Float64Array
from cutaway.errors import ConfigurationError

__all__ = ["describe_clusters"]

# Differences that are real but smaller than these are not worth a word: of ranks (-1 to 1), and of shares as angles.
SMALLEST_SHIFT, SMALLEST_ANGLE = 0.2, 0.3
# What has a part of its own, or is no property of a sample.
TOLD_APART = (SAMPLE, LABEL, PREDICTION, CORRECT, LOSS)
# Columns that begin so say how well the model did.
SCORES = ("metric.", "loss.")

_Numbers = Float64Array


def describe_clusters(clusters: Clusters, samples: Samples) -> tuple[ClusterWords, ...]:
    """Return what each cluster consists of and what sets it apart from all other samples.

    Errors, losses and metrics are those of the samples by which the model is judged, the held-out ones; classes and
    other columns those of all.
    Traits are differences beyond a bound for all columns and clusters together: where clusters have nothing to do with
    the columns, at most one description in twenty has any. Values of fewer than 5 samples are not looked at.
    """
    if len(clusters.labels) != len(samples):
        raise ConfigurationError(f"There are {len(samples)} samples, but clusters of {len(clusters.labels)}.")
    (wrong, wrong_of), (loss, loss_of) = _wrong(samples), _loss(samples)
    results = compare_splits(_asked(samples, wrong, loss), clusters.labels, len(clusters))
    numbers = {one.column: doubles_of(_column(samples, one.column)) for one in results if one.kind == "number"}
    if loss is not None and LOSS in numbers:
        numbers[LOSS] = loss
    ranks = {name: _ranks(values) for name, values in numbers.items()}
    found = []
    for cluster, size in enumerate(clusters.sizes):
        members = np.asarray(clusters.labels == cluster)
        real = [one for one in results if one.differs[cluster]]
        traits = _traits(real, cluster, members, numbers, ranks)
        differ = {one.column for one in real} & {CORRECT} | {one.column for one in traits if one.figure == "mean"}
        classes = _classes(samples, members)
        errors = None if wrong is None else _error_rate(wrong, members, wrong_of, differs=CORRECT in differ)
        losses = None if loss is None else _mean_loss(loss, members, loss_of, differs=LOSS in differ)
        purity = classes[0].share if classes else None
        told = tuple(one for one in traits if one.column != LOSS)
        found.append(ClusterWords(cluster, size, classes, purity, errors, losses, told))
    return tuple(found)


def _asked(samples: Samples, wrong: pa.ChunkedArray | None, loss: _Numbers | None) -> Iterator[Split]:
    for name in samples.table.column_names:
        if name not in TOLD_APART:
            yield from splits_of(name, _column(samples, name))
    if wrong is not None:
        yield from splits_of(CORRECT, wrong)
    if loss is not None:
        yield from splits_of(LOSS, pa.chunked_array([pa.array(loss)]))


def _column(samples: Samples, name: str) -> pa.ChunkedArray:
    """Return a column; of one that scores the model the values of the samples that it is judged by."""
    column = samples.table[name]
    if not name.startswith(SCORES):
        return column
    rows, _ = _judged(samples, ~np.asarray(column.is_null(), np.bool_))
    return column.take(pa.array(np.arange(len(rows)), mask=~rows))


def _wrong(samples: Samples) -> tuple[pa.ChunkedArray | None, str]:
    """Return which of the samples are wrong that the model is judged by, null for the others; and which these are."""
    if not samples.has(CORRECT) or not pa.types.is_boolean(samples.column(CORRECT).type):
        return None, ""
    right = samples.column(CORRECT)
    rows, judged = _judged(samples, ~np.asarray(right.is_null(), np.bool_))
    wrong = pa.array(~np.asarray(right.fill_null(False), np.bool_), mask=~rows)  # noqa: FBT003 - pyarrow takes no keyword
    return pa.chunked_array([wrong]), judged


def _loss(samples: Samples) -> tuple[_Numbers | None, str]:
    """Return the losses of the samples that the model is judged by, NaN for the others; and which these are."""
    if not samples.has(LOSS):
        return None, ""
    losses = samples.numbers(LOSS)
    rows, judged = _judged(samples, np.isfinite(losses))
    return (np.where(rows, losses, np.nan), judged) if rows.any() else (None, "")


def _judged(samples: Samples, known: BoolArray) -> tuple[BoolArray, str]:
    subsets = samples.column(SUBSET)
    names, present = subsets_with(subsets, known), subsets.filter(pa.array(known)).unique().to_pylist()
    return judged_rows(subsets, known), "" if len(names) == len(present) else " and ".join(names)


def _classes(samples: Samples, members: BoolArray) -> tuple[ClassShare, ...]:
    if not samples.has(LABEL) or pa.types.is_nested(samples.column(LABEL).type):
        return ()
    counted = samples.column(LABEL).filter(pa.array(members)).drop_null().value_counts()
    found = sorted(((one["counts"].as_py(), str(one["values"])) for one in counted), key=lambda one: (-one[0], one[1]))
    total = sum(count for count, _ in found)
    return tuple(ClassShare(name, count, count / total) for count, name in found)


def _error_rate(wrong: pa.ChunkedArray, members: BoolArray, judged: str, *, differs: bool) -> Rate | None:
    known = ~np.asarray(wrong.is_null(), bool)
    failed = np.asarray(pc.fill_null(wrong, fill_value=False), bool)
    count, others = int((known & members).sum()), int((known & ~members).sum())
    if not count:
        return None
    share = float(failed[members].sum()) / count
    low, high = share_interval(failed[members].sum(), count)
    outside = float(failed[~members].sum()) / others if others else float("nan")
    return Rate(share, outside, count, differs, float(low), float(high), judged)


def _mean_loss(loss: _Numbers, members: BoolArray, judged: str, *, differs: bool) -> Rate | None:
    inside, outside = (_mean(loss[side]) for side in (members, ~members))
    count = int(np.isfinite(loss[members]).sum())
    return Rate(inside, outside, count, differs, judged=judged) if count else None


def _mean(values: _Numbers) -> float:
    fine = values[np.isfinite(values)]
    return float(fine.mean()) if len(fine) else float("nan")


def _median(values: _Numbers) -> float:
    fine = values[np.isfinite(values)]
    return float(np.median(fine)) if len(fine) else float("nan")


def _ranks(values: _Numbers) -> _Numbers:
    """Return the rank of each value from 0 to 1, equal ones sharing theirs; NaN where there is none."""
    fine = np.isfinite(values)
    _, place, counts = np.unique(values[fine], return_inverse=True, return_counts=True)
    ranks = np.full(len(values), np.nan)
    ranks[fine] = ((np.cumsum(counts) - (counts - 1) / 2 - 0.5) / counts.sum())[place]
    return ranks


def _traits(
    real: list[Tested], cluster: int, members: BoolArray, numbers: dict[str, _Numbers], ranks: dict[str, _Numbers]
) -> tuple[Trait, ...]:
    found: dict[tuple[str, str | None], Trait] = {}
    for one in real:
        if one.column == CORRECT:
            continue
        if one.kind == "number":
            trait = _of_number(one, cluster, members, numbers[one.column], ranks[one.column])
        else:
            trait = _of_share(one, cluster)
        key = (one.column, one.value)
        if trait is not None and (key not in found or trait.score > found[key].score):
            found[key] = trait
    return tuple(sorted(found.values(), key=lambda trait: (-trait.score, trait.column, trait.value or "")))


def _of_share(one: Tested, cluster: int) -> Trait | None:
    inside, outside = float(one.inside[cluster]), float(one.outside[cluster])
    angle = 2 * (np.arcsin(np.sqrt(inside)) - np.arcsin(np.sqrt(outside)))
    if abs(angle) < SMALLEST_ANGLE:
        return None
    return _trait(one, cluster, "share", (inside, outside), inside - outside)


def _of_number(one: Tested, cluster: int, members: BoolArray, values: _Numbers, ranks: _Numbers) -> Trait | None:
    # Twice the difference of mean ranks is the chance to be higher less the chance to be lower.
    shift = 2 * (_mean(ranks[members]) - _mean(ranks[~members]))
    if abs(shift) < SMALLEST_SHIFT or (shift > 0) != (one.inside[cluster] > one.outside[cluster]):
        return None
    means, medians = ((of(values[members]), of(values[~members])) for of in (_mean, _median))
    for figure, (inside, outside) in (("mean", means), ("median", medians)):
        if (inside - outside) * shift > 0:
            return _trait(one, cluster, figure, (inside, outside), shift)
    return None  # real, but no figure would show it


def _trait(one: Tested, cluster: int, figure: str, figures: tuple[float, float], effect: float) -> Trait:
    direction = "higher" if effect > 0 else "lower"
    score, count = float(one.score[cluster]), int(one.counts[cluster])
    return Trait(one.column, one.kind, one.value, figure, *figures, direction, effect, score, count)
