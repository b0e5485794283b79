"""What to do about a slice, by what is so: another look in training, wrong labels, too few, hard as such, or neither.

Each of these is said only where a test of its own supports it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.filters.condition import CLUSTER
from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.inputs import Apartness, inputs_apart
from cutaway.analysis.insights.judging import Judged
from cutaway.analysis.insights.values import ALARMS
from cutaway.analysis.insights.wording import figures, told
from cutaway.analysis.insights.worth import HARD
from cutaway.analysis.libraries import library
from cutaway.analysis.samples import LABEL, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.held_out import TRAINING
from cutaway.analysis.statistics.intervals import share_difference
from cutaway.arrays import BoolArray, Int64Array
from cutaway.wording import counted, percent

__all__ = ["Advice", "Advisor", "lacks_samples"]

# A slice with so much smaller a share of training than of what is judged lacks samples.
RARE = 0.8
# From this share of likely wrong labels among the errors on, relabelling comes first.
WRONG_LABELS = 0.3
# What the model answers by itself: that these do badly names no cause.
OWN_ANSWERS = frozenset({LABEL, PREDICTION, CLUSTER})
# Fewer errors than this, or a smaller share of them, are no confusion worth a name.
CONFUSED, CONFUSED_SHARE = 5, 0.25


@dataclass(frozen=True)
class Advice:
    """What to do; which part of what is at stake can be mended so; and whether training's samples look different."""

    words: str
    fixable: float
    evidence: dict[str, Any] = field(default_factory=dict)
    is_gap: bool = False


@dataclass(frozen=True)
class _TrainingSide:
    """How many of all training samples meet a slice's conditions, and which."""

    rows: BoolArray
    total: int

    @property
    def has(self) -> int:
        return int(self.rows.sum())


def lacks_samples(has: int, total: int, count: int, judged: int, claims: int) -> bool:
    """Whether training has a smaller share of such samples than what is judged, by more than chance and enough.

    The chance is exact (hypergeometric), and corrected for how many slices this is said of.

    >>> lacks_samples(240, 12_000, 54, 2_000, 1), lacks_samples(60, 12_000, 54, 2_000, 1)
    (False, True)
    """
    if count == judged or has >= RARE * count / judged * total:
        return False
    tail = library("scipy.stats", "Insights").hypergeom.sf
    chance = float(tail(count - 1, total + judged, has + count, judged))
    return chance * max(claims, 1) <= ALARMS


@dataclass(frozen=True)
class Advisor:
    """Says what to do about slices of some samples; `claims` is of how many."""

    samples: Samples
    table: pa.Table
    judged: Judged
    columns: Sequence[Described]
    classes: Int64Array
    wrong_labels: BoolArray
    claims: int
    rng: np.random.Generator

    def advise(self, where: Sequence[str], rows: BoolArray, others: Sequence[Sequence[str]] = ()) -> Advice:
        """Return what to do about the judged samples `rows`, which meet the conditions `where`.

        `others` are the conditions of the other slices: what these have to themselves is not this one's.
        """
        conditions = [parse_filter(text, self.table) for text in where]
        about = {condition.column for condition in conditions}
        wrong = rows & (self.judged.outcome > 0) if self.judged.measure == "error" else rows
        errors, suspicious = int(wrong.sum()), int((wrong & self.wrong_labels).sum())
        evidence: dict[str, Any] = {"wrong": errors, "likely_mislabeled": suspicious}
        named = not about <= OWN_ANSWERS
        trained = np.asarray(self.samples.table[SUBSET].to_pylist(), object) == TRAINING
        # The slice's share of the judged samples stands against its share of all training samples, outcome or not.
        side = _TrainingSide(rows_where(self.table, conditions) & trained, int(trained.sum()))
        compared = bool(self.judged.training.any()) and PREDICTION not in about
        if compared:
            evidence["training"] = side.has
        # Where a cluster lies follows from what the model learned: its shares say nothing about how data were taken.
        by_data = compared and CLUSTER not in about
        # Where a class lies in latent space follows from what it is taken for: only of metadata is a gap told.
        if by_data and named and (gap := self._gap(rows, side, others)) is not None:
            return Advice(self._gap_words(gap, side, about), 1.0, evidence | _gap_evidence(gap), is_gap=True)
        count, total = int(rows.sum()), int(self.judged.rows.sum())
        rare = by_data and lacks_samples(side.has, side.total, count, total, self.claims)
        fixable = 1.0 if named or rare else HARD
        # A model is no judge of the labels of what it was hardly trained with: its own errors look like wrong labels.
        if self.judged.measure == "error" and suspicious >= WRONG_LABELS * errors and not rare:
            words = f"Relabel first: {suspicious:,} of its {counted(errors, 'error')} are probably wrong labels."
            return Advice(words, fixable, evidence)
        if rare:
            return Advice(_balance(side, count / total, self.judged.words), fixable, evidence)
        if not named and (confused := self._confused(wrong)):
            return Advice(f"{confused}{_has(side) if compared else ''}", fixable, evidence)
        if not compared:
            which = f"its {counted(errors, 'error')}" if errors < len(rows) else "those with the largest loss"
            return Advice(f"Look at {which} and collect more samples like them.", fixable, evidence)
        enough = (
            f"Training already has {side.has:,} such samples, but the model still struggles: collect or augment more."
        )
        return Advice(enough, fixable, evidence)

    def _gap(self, rows: BoolArray, side: _TrainingSide, others: Sequence[Sequence[str]]) -> Apartness | None:
        """Return how training's samples look different, where it also does better on them than on the judged ones."""
        judged = self.judged
        free = np.ones(len(rows), np.bool_)
        for where in others:
            free &= ~rows_where(self.table, [parse_filter(text, self.table) for text in where])
        known, rows = side.rows & judged.training & free, rows & free
        if not known.any() or not rows.any():
            return None
        if judged.measure == "error":
            here, there = (judged.outcome[mask] for mask in (rows, known))
            low, _ = share_difference((float(here.sum()), float(there.sum())), (len(here), len(there)))
            if low <= 0:
                return None
        elif judged.scaled[rows].mean() <= judged.scaled[known].mean():
            return None
        outside = judged.rows & free & ~rows, judged.training & free & ~known
        kinds = 2 * self.classes + (judged.outcome > 0) if judged.measure == "error" else self.classes
        return inputs_apart(self.samples, self.columns, kinds, (rows, known), outside, self.claims, self.rng)

    def _gap_words(self, gap: Apartness, side: _TrainingSide, about: set[str]) -> str:
        judged = self.judged
        mean = told(judged.measure, float(judged.outcome[side.rows & judged.training].mean()))[0]
        how = []
        if gap.column is not None and gap.column.column.name not in about:
            how.append(_column_words(gap))
        if np.isfinite(gap.distance):
            how.append(f"distance in latent space {gap.distance:.2f}, {gap.elsewhere:.2f} elsewhere")
        return (
            f"Domain gap: the {counted(side.has, 'training sample')} of this kind look different "
            f"({'; '.join(how) or 'by the same columns'}) and have {judged.noun} {mean}. More of the same will not "
            f"help: find out how {judged.words} was collected, and collect or augment training samples that look "
            "like it."
        )

    def _confused(self, wrong: BoolArray) -> str:
        """Say what is most often taken for what, where one pair of classes stands out."""
        if self.judged.measure != "error" or not (self.samples.has(LABEL) and self.samples.has(PREDICTION)):
            return ""
        places = pa.array(np.flatnonzero(wrong))
        labels, answers = (self.table[name].take(places).to_pylist() for name in (LABEL, PREDICTION))
        if not labels:
            return ""
        (label, answer), count = Counter(zip(labels, answers, strict=True)).most_common(1)[0]
        errors = int(wrong.sum())
        if count < max(CONFUSED, CONFUSED_SHARE * errors):
            return ""
        return (
            f"Hard as such: of its {counted(errors, 'error')}, {count:,} are {label} predicted as {answer}. Look "
            "whether people can tell these two apart by what the model is given."
        )


def _has(side: _TrainingSide) -> str:
    return f" Training has {side.has:,} such samples."


def _balance(side: _TrainingSide, share: float, judged: str) -> str:
    """Say how many samples training lacks, going by the slice's share of what is judged."""
    missing = round((share * side.total - side.has) / (1 - share))
    weigh = f", or give the {side.has:,} in training more weight" if side.has else ""
    return (
        f"Balance: {percent(side.has / side.total)} of training is like this, but {percent(share)} of {judged}. "
        f"Collect about {missing:,} more{weigh}."
    )


def _column_words(gap: Apartness) -> str:
    drift = gap.column
    if drift is None:
        return ""
    name = drift.column.name
    if drift.value is None:
        there, here = figures(drift.outside, drift.inside)
        return f"median {name} {there} there, {here} here"
    return f"{name} {drift.value} in {percent(drift.outside)} there, {percent(drift.inside)} here"


def _gap_evidence(gap: Apartness) -> dict[str, Any]:
    return {
        "latent": gap.distance if np.isfinite(gap.distance) else None,
        "latent_elsewhere": gap.elsewhere if np.isfinite(gap.elsewhere) else None,
        "differs": None if gap.column is None else gap.column.column.name,
    }
