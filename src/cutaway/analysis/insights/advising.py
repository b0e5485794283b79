"""What to do about a slice that does badly: relabel, balance or collect, with how many samples. Finds no slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.insights.judging import TRAINING, Judged
from cutaway.analysis.insights.wording import percent
from cutaway.analysis.samples import PREDICTION, SUBSET, Samples
from cutaway.arrays import BoolArray
from cutaway.wording import counted

__all__ = ["Advice", "advise"]

# A slice with so much smaller a share of training than of what is judged lacks samples.
RARE = 0.8
# From this share of likely wrong labels among the errors on, relabelling comes first.
WRONG_LABELS = 0.3


@dataclass(frozen=True)
class Advice:
    """What to do in words, and the figures behind it."""

    words: str
    evidence: Mapping[str, int]


def advise(  # noqa: PLR0917  all of it is the slice
    samples: Samples, table: pa.Table, judged: Judged, where: Sequence[str], rows: BoolArray, wrong_labels: BoolArray
) -> Advice:
    """Return what to do about a slice: `rows` are its judged ones, `wrong_labels` those whose label is likely wrong."""
    wrong = rows & (judged.outcome > 0) if judged.measure == "error" else rows
    errors, suspicious = int(wrong.sum()), int((wrong & wrong_labels).sum())
    evidence = {"wrong": errors, "likely_mislabeled": suspicious}
    conditions = [parse_filter(text, table) for text in where]
    by_prediction = any(condition.column == PREDICTION for condition in conditions)
    compared = bool(judged.training.any()) and not by_prediction
    trained = np.asarray(samples.table[SUBSET].to_pylist(), object) == TRAINING
    has, total = int((rows_where(table, conditions) & trained).sum()), int(trained.sum())
    share = float(rows.sum() / judged.rows.sum())
    rare = compared and share < 1 and has < RARE * share * total
    # A model is no judge of the labels of what it was hardly trained with: there its own errors look like wrong labels.
    if judged.measure == "error" and suspicious >= WRONG_LABELS * errors and not rare:
        words = f"Relabel first: {suspicious:,} of its {counted(errors, 'error')} are more likely wrong labels."
        return Advice(words, evidence)
    if not compared:
        which = f"its {counted(errors, 'error')}" if judged.measure == "error" else "those with the largest loss"
        return Advice(f"Look at {which}, and collect more like them.", evidence)
    words = (
        _balance(has, total, share, judged.words)
        if rare
        else f"Collect or augment: training has its share, {has:,} like this, and they do not suffice."
    )
    return Advice(words, {**evidence, "training": has})


def _balance(has: int, total: int, share: float, judged: str) -> str:
    """Say how many samples training lacks, going by the slice's share of what is judged."""
    missing = round((share * total - has) / (1 - share))
    return (
        f"Balance: {percent(has / total)} of training is like this, but {percent(share)} of {judged}. Collect about "
        f"{missing:,}, or give the {has:,} that there are more weight."
    )
