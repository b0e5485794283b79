"""Precision, recall and F1 from counts, the same for every confusion matrix."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.analysis.statistics.intervals import share_interval
from cutaway.arrays import Int64Array

__all__ = ["rates"]


def rates(correct: Int64Array, predicted: Int64Array, support: Int64Array) -> dict[str, pa.Array]:
    """Return columns for each class: `precision` and `recall` with 95 % intervals by Wilson, and `f1`.

    `correct` counts what is rightly predicted, `predicted` all that is, `support` what there is to find. A share of
    nothing is null; F1, their harmonic mean, has no such interval.
    """
    columns: dict[str, pa.Array] = {}
    for name, total in (("precision", predicted), ("recall", support)):
        low, high = share_interval(correct, total)
        share = correct / np.maximum(total, 1)
        for column, values in ((name, share), (f"{name}_low", low), (f"{name}_high", high)):
            columns[column] = pa.array(values, mask=total == 0)
    both = support + predicted
    columns["f1"] = pa.array(2 * correct / np.maximum(both, 1), mask=both == 0)
    return columns
