"""What a model decided about each label at a threshold, from the elements of a confusion metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from cutaway.analysis.classes.rates import rates
from cutaway.analysis.samples.coding import Coded, coded
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
    metric: str, elements: Elements, threshold: float = THRESHOLD, *, split: Coded | None = None
) -> ThresholdCounts:
    """Return what the elements of a metric say at a threshold, where asked also for each value of a column.

    `split` has a value for each sample. An element whose probability is NaN is left out, which is said.
    """
    if not math.isfinite(threshold):
        raise ConfigurationError(f"`threshold` must be finite, but got {threshold=}.")
    known = ~np.isnan(elements.probabilities)
    if not known.any():
        raise AnalysisUnavailable("confusion matrix", f"no sample has a decision of metric {metric!r}.")
    given = elements.of(known)
    labels = coded("label", pa.chunked_array([given.labels]))
    parts = {} if split is None else _parts(metric, given, labels, threshold, split)
    return replace(
        _counts(metric, given, labels, threshold), notes=_notes(metric, elements, known, threshold), parts=parts
    )


def _parts(
    metric: str, elements: Elements, labels: Coded, threshold: float, split: Coded
) -> dict[str, ThresholdCounts]:
    values = split.codes[elements.rows]
    rows = {name: values == number for number, name in enumerate(split.names)}
    return {
        name: _counts(metric, elements.of(own), labels.of(own), threshold) for name, own in rows.items() if own.any()
    }


def _counts(metric: str, elements: Elements, labels: Coded, threshold: float) -> ThresholdCounts:
    said, width = elements.probabilities > threshold, len(labels.names)

    def count(rows: BoolArray) -> Int64Array:
        return np.bincount(labels.codes[rows], minlength=width)

    right, false = count(elements.expected & said), count(~elements.expected & said)
    missed, rest = count(elements.expected & ~said), count(~elements.expected & ~said)
    columns = dict(zip(_COUNTS, map(pa.array, (right, false, missed, rest)), strict=True))
    shares = rates(right, right + false, right + missed)
    table = pa.table({"label": pa.array(labels.names, pa.string()), **columns, **shares})
    return ThresholdCounts(metric, threshold, table, len(np.unique(elements.rows)))


def _notes(metric: str, elements: Elements, known: BoolArray, threshold: float) -> tuple[str, ...]:
    notes = []
    if not known.all():
        notes.append(f"{int((~known).sum()):,} of {len(known):,} decisions are left out: their probability is NaN.")
    given = elements.probabilities[known]
    if given.min() < 0 or given.max() > 1:
        notes.append(
            f"The values of {metric} go from {given.min():.4g} to {given.max():.4g}: they are scores, no probabilities,"
            f" and the threshold {threshold:g} is one of these scores."
        )
    return tuple(notes)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f} ({part:,} of {whole:,})" if whole else "of nothing"
