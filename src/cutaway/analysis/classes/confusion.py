"""Which classes a model predicts as which: counts, precision and recall by class. Sparse: ten thousand classes fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.classes.rates import rates
from cutaway.analysis.samples import LABEL, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.coding import Coded, coded, left_out, most_frequent
from cutaway.analysis.samples.held_out import counted_subsets, left_out_subsets, rows_of_subsets
from cutaway.analysis.statistics.intervals import share_interval
from cutaway.arrays import Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["MOST_CLASSES", "ConfusionCounts", "confusion"]


ANALYSIS = "confusion matrix"
# A matrix of more is no longer looked at as a whole, and of 10,000 classes takes 800 MB.
MOST_CLASSES = 1_000
# A matrix for each value of a column with more is not what anybody asked for.
MOST_PARTS = 100


@dataclass(frozen=True)
class ConfusionCounts:
    """What the samples of each class were predicted as.

    `pairs` has a row for each pair of classes that occurs: label, prediction, count, and `share`, the part of the
    samples with that label. `by_class` has a row for each class: its `support` (samples with that label), how often it
    was `predicted`, how often rightly (`correct`), `precision` and `recall`, each with a 95 % interval by Wilson
    (`precision_low` and so on), and `f1`, their harmonic mean, which has no such interval. A share of nothing is null.
    `accuracy` is that of the samples that count, with its interval. `parts` holds one confusion for each value of the
    column that it was split by.
    """

    classes: tuple[str, ...]
    pairs: pa.Table
    by_class: pa.Table
    accuracy: float
    low: float
    high: float
    count: int
    missing: int
    notes: tuple[str, ...] = ()
    parts: Mapping[str, ConfusionCounts] = field(default_factory=dict)

    def matrix(self) -> Int64Array:
        """Return the counts, true classes in rows and predictions in columns, both in the order of `classes`."""
        width = len(self.classes)
        if width > MOST_CLASSES:
            raise AnalysisUnavailable(
                ANALYSIS,
                f"{width:,} classes make {width**2:,} cells, and {MOST_CLASSES:,} classes are the most.",
                hint="`pairs` has the cells that are not 0, `most_confused()` the largest.",
            )
        place = {name: number for number, name in enumerate(self.classes)}
        counts = np.zeros((width, width), np.int64)
        rows = ([place[one] for one in self.pairs[side].to_pylist()] for side in (LABEL, PREDICTION))
        counts[tuple(rows)] = self.pairs["count"].to_numpy()
        return counts

    def most_confused(self, top: int = 20) -> pa.Table:
        """Return the pairs of different classes that occur most often, as rows of `pairs`."""
        if top < 1:
            raise ConfigurationError(f"`top >= 1` must hold, but got top={top}.")
        wrong = self.pairs.filter(pc.not_equal(self.pairs[LABEL], self.pairs[PREDICTION]))
        # Stable, so that pairs as frequent as each other keep the order of the classes.
        order = np.argsort(-wrong["count"].to_numpy(), kind="stable")[:top]
        return wrong.take(pa.array(order))

    def words(self) -> str:
        """Say how often the model is right, and what it confuses most."""
        said = f"accuracy {self.accuracy:.4f} [{self.low:.4f}, {self.high:.4f}], {self.count:,} samples"
        for worst in self.most_confused(1).to_pylist():
            part = f"{_times(worst['count'])}, {worst['share']:.1%} of its samples"
            said += f"; most often {worst[LABEL]!r} is predicted as {worst[PREDICTION]!r}: {part}"
        return said


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def confusion(samples: Samples, *, by: str | None = None, subsets: Sequence[str] | None = None) -> ConfusionCounts:
    """Return what the samples of each class were predicted as, where asked also for each value of column `by`.

    Held-out samples count, and training only where nothing is held out; `subsets` are those that count together
    instead. Split by subset, each has its own part. Raises `AnalysisUnavailable` where samples do not have one class
    each: multi-label, regression, segmentation.
    """
    for column in (LABEL, PREDICTION):
        if not samples.has(column):
            raise AnalysisUnavailable(
                ANALYSIS,
                f"the samples have no {column!r}.",
                hint=(
                    "It needs one true and one predicted class for each sample; data without labels, multi-label, "
                    "regression and segmentation have none."
                ),
            )
    truth = coded(LABEL, samples.column(LABEL), samples.classes)
    answers = coded(PREDICTION, samples.column(PREDICTION), truth.names)
    belongs, known = samples.column(SUBSET), (truth.codes >= 0) & (answers.codes >= 0)
    own = rows_of_subsets(belongs, counted_subsets(belongs, known, subsets))
    whole = _confusion(answers.names, truth.codes[own], answers.codes[own])
    left = left_out_subsets(belongs.filter(pa.array(known)), own[known])
    if by is None:
        return replace(whole, notes=(*whole.notes, *left))
    parts, notes = _parts(by, coded(by, samples.column(by))), whole.notes
    if by == SUBSET and subsets is None:
        # Nothing is left out: every subset has its own part.
        own, left = np.ones_like(own), ()
        notes = _confusion(answers.names, truth.codes, answers.codes).notes
    found, more = _split(answers.names, truth.codes[own], answers.codes[own], parts.of(own))
    return replace(whole, parts=found, notes=(*notes, *more, *left))


def _parts(name: str, values: Coded) -> Coded:
    present = len(np.unique(values.codes[values.codes >= 0]))
    if present > MOST_PARTS:
        raise AnalysisUnavailable(
            ANALYSIS, f"column {name!r} has {present:,} different values, and {MOST_PARTS} are the most to split by."
        )
    return most_frequent(values, MOST_PARTS)[0]


def _confusion(classes: tuple[str, ...], truth: Int64Array, answers: Int64Array) -> ConfusionCounts:
    known = (truth >= 0) & (answers >= 0)
    reasons = {"without a label": int((truth < 0).sum()), "without a prediction": int(((truth >= 0) & ~known).sum())}
    notes, rows = left_out(len(truth), reasons), int(known.sum())
    if not rows:
        raise AnalysisUnavailable(ANALYSIS, f"no sample has both a label and a prediction. {' '.join(notes)}".strip())
    cells, counts = np.unique(truth[known] * len(classes) + answers[known], return_counts=True)
    true, named = cells // len(classes), cells % len(classes)
    support = np.bincount(truth[known], minlength=len(classes))
    predicted = np.bincount(answers[known], minlength=len(classes))
    correct = np.bincount(true[true == named], counts[true == named], minlength=len(classes)).astype(np.int64)
    names = pa.array(classes, pa.string())
    pairs = pa.table(
        {
            LABEL: names.take(pa.array(true)),
            PREDICTION: names.take(pa.array(named)),
            "count": counts,
            "share": counts / support[true],
        }
    )
    right = int(correct.sum())
    low, high = (float(side) for side in share_interval(right, rows))
    if len(classes) > MOST_CLASSES:
        notes += (
            f"{len(classes):,} classes have no whole matrix; `pairs` has the {len(cells):,} cells that are not 0.",
        )
    by_class = _by_class(names, support, predicted, correct)
    return ConfusionCounts(classes, pairs, by_class, right / rows, low, high, rows, len(truth) - rows, notes)


def _split(
    classes: tuple[str, ...], truth: Int64Array, answers: Int64Array, parts: Coded
) -> tuple[dict[str, ConfusionCounts], tuple[str, ...]]:
    known = (truth >= 0) & (answers >= 0)
    rows = {name: known & (parts.codes == number) for number, name in enumerate(parts.names)}
    found = {name: _confusion(classes, truth[own], answers[own]) for name, own in rows.items() if own.any()}
    without = int((known & (parts.codes < 0)).sum())
    return found, (f"Samples that belong to no part: {without:,}.",) if without else ()


def _by_class(names: pa.Array, support: Int64Array, predicted: Int64Array, correct: Int64Array) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "class": names,
        "support": pa.array(support),
        "predicted": pa.array(predicted),
        "correct": pa.array(correct),
        **rates(correct, predicted, support),
    }
    return pa.table(columns)
