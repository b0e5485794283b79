"""What a model decided about each label at a threshold, from the elements of a confusion metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from cutaway.analysis.classes.rates import rates
from cutaway.analysis.samples import SUBSET
from cutaway.analysis.samples.coding import Coded, coded
from cutaway.analysis.samples.held_out import counted_subsets, left_out_subsets, rows_of_subsets
from cutaway.arrays import BoolArray, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.run.evaluated.elements import Elements
from cutaway.wording import counted

__all__ = ["THRESHOLD", "ThresholdCounts", "threshold_counts"]

THRESHOLD = 0.5


@dataclass(frozen=True)
class ThresholdCounts:
    """How often a model was right about each label, where a probability above `threshold` says that it holds.

    `by_label` has a row for each label: `true_positives`, `false_positives`, `false_negatives` and `true_negatives`;
    `precision` and `recall`, each with a 95 % interval by Wilson (`precision_low` and so on), and `f1`. A share of
    nothing is null. `samples` is how many samples have any element. `parts` holds the same for each value of the column
    that it was split by.
    """

    metric: str
    threshold: float
    by_label: pa.Table
    samples: int
    notes: tuple[str, ...] = ()
    parts: Mapping[str, ThresholdCounts] = field(default_factory=dict)

    def matrix(self) -> Int64Array:
        """Return the counts over all labels: what holds in the first row, what is predicted in the first column."""
        right, false, missed, rest = (int(np.sum(self.by_label[name].to_numpy())) for name in _COUNTS)
        return np.array([[right, missed], [false, rest]], np.int64)

    def words(self) -> str:
        """Say how precise the model is at the threshold, how much it finds, and for which label it does worst."""
        [[right, missed], [false, _]] = self.matrix().tolist()
        said = (
            f"{self.metric} above {self.threshold:g}: precision {_share(right, right + false)}, recall "
            f"{_share(right, right + missed)}, {counted(self.samples, 'sample')}"
        )
        known = [one for one in self.by_label.select(["label", "f1"]).to_pylist() if one["f1"] is not None]
        if len(known) > 1:
            worst = min(known, key=lambda one: one["f1"])
            said += f"; worst is {worst['label']!r}, F1 {worst['f1']:.4f}"
        return said


_COUNTS = ("true_positives", "false_positives", "false_negatives", "true_negatives")


def threshold_counts(
    metric: str,
    elements: Elements,
    belongs: pa.ChunkedArray,
    threshold: float = THRESHOLD,
    *,
    subsets: Sequence[str] | None = None,
    by: str | None = None,
    split: Coded | None = None,
) -> ThresholdCounts:
    """Return what the elements of a metric say at a threshold, where asked also for each value of column `by`.

    `belongs` is the subset of each sample: held-out ones count, and training only where nothing is held out; `subsets`
    are those that count together instead. `split` has the value of `by` for each sample; split by subset, each has its
    own part. An element whose probability is NaN is left out, which is said.
    """
    if not math.isfinite(threshold):
        raise ConfigurationError(f"`threshold` must be finite, but got {threshold=}.")
    known = ~np.isnan(elements.probabilities)
    decided = np.zeros(len(belongs), np.bool_)
    decided[elements.rows[known]] = True
    own = rows_of_subsets(belongs, counted_subsets(belongs, decided, subsets))
    counting = elements.of(own[elements.rows])
    given = _finite(counting)
    if not len(given.rows):
        raise AnalysisUnavailable("confusion matrix", f"no sample has a decision of metric {metric!r}.")
    left = left_out_subsets(belongs.filter(pa.array(decided)), own[decided])
    parts: dict[str, ThresholdCounts] = {}
    if split is not None:
        each = by == SUBSET and subsets is None
        parts = _parts(metric, elements.of(known) if each else given, threshold, split)
        left = () if each else left
    return replace(_counts(metric, given, threshold), notes=(*_notes(metric, counting, threshold), *left), parts=parts)


def _finite(elements: Elements) -> Elements:
    return elements.of(~np.isnan(elements.probabilities))


def _parts(metric: str, elements: Elements, threshold: float, split: Coded) -> dict[str, ThresholdCounts]:
    values = split.codes[elements.rows]
    rows = {name: values == number for number, name in enumerate(split.names)}
    return {name: _counts(metric, elements.of(own), threshold) for name, own in rows.items() if own.any()}


def _counts(metric: str, elements: Elements, threshold: float) -> ThresholdCounts:
    labels = coded("label", pa.chunked_array([elements.labels]))
    said, width = elements.probabilities > threshold, len(labels.names)

    def count(rows: BoolArray) -> Int64Array:
        return np.bincount(labels.codes[rows], minlength=width)

    right, false = count(elements.expected & said), count(~elements.expected & said)
    missed, rest = count(elements.expected & ~said), count(~elements.expected & ~said)
    columns = dict(zip(_COUNTS, map(pa.array, (right, false, missed, rest)), strict=True))
    shares = rates(right, right + false, right + missed)
    table = pa.table({"label": pa.array(labels.names, pa.string()), **columns, **shares})
    return ThresholdCounts(metric, threshold, table, len(np.unique(elements.rows)))


def _notes(metric: str, elements: Elements, threshold: float) -> tuple[str, ...]:
    given, notes = elements.probabilities[~np.isnan(elements.probabilities)], []
    if len(given) < len(elements.probabilities):
        without = len(elements.probabilities) - len(given)
        notes.append(
            f"{without:,} of {len(elements.probabilities):,} decisions are left out: their probability is NaN."
        )
    if given.min() < 0 or given.max() > 1:
        notes.append(
            f"The values of {metric} go from {given.min():.4g} to {given.max():.4g}: they are scores, no probabilities,"
            f" and the threshold {threshold:g} is one of these scores."
        )
    return tuple(notes)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f} ({part:,} of {whole:,})" if whole else "of nothing"
