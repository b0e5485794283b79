"""What mending a slice would buy: its error or loss beyond that of comparable samples. Knows no slices, only rows.

Comparable samples are of the same classes. So a column that goes with a hard class is not blamed for the class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.insights.judging import Judged
from cutaway.analysis.samples import LABEL, Samples
from cutaway.arrays import BoolArray, Int64Array

__all__ = ["HARD", "SliceWorth", "worth_among"]

# Which part of a class's, a cluster's or a whole model's weakness is counted as what can be mended. Nobody knows how
# large it is; it is small, for what is simply hard stays so, and a slice with a cause that can be named comes first.
HARD = 0.05
# With fewer samples of a class outside of a slice, all others stand for them.
FEWEST_COMPARABLE = 10


@dataclass(frozen=True)
class SliceWorth:
    """Judges slices beside comparable samples; `classes` is the class of each sample, -1 where it has none."""

    judged: Judged
    classes: Int64Array

    def comparable(self, rows: BoolArray) -> float:
        """Return the mean of the judged samples outside of some rows, weighted to the classes of these."""
        judged = self.judged
        inside, outside = judged.rows & rows, judged.rows & ~rows
        if not inside.any() or not outside.any():
            return float("nan")
        everywhere = float(judged.outcome[outside].mean())
        count = int(self.classes.max(initial=-1)) + 2
        # What has no class is one of its own.
        own, other = self.classes[inside] + 1, self.classes[outside] + 1
        counts = np.bincount(other, minlength=count)
        sums = np.bincount(other, judged.outcome[outside], count)
        means = np.where(counts >= FEWEST_COMPARABLE, sums / np.maximum(counts, 1), everywhere)
        return float(means[own].mean())

    def excess(self, rows: BoolArray) -> float:
        """Return by how much the mean of some rows is above that of comparable samples."""
        inside = self.judged.rows & rows
        return float(self.judged.outcome[inside].mean()) - self.comparable(rows)


def worth_among(samples: Samples, judged: Judged) -> SliceWorth:
    """Return what judges slices of some samples."""
    classes = np.full(len(samples), -1, np.int64)
    if samples.has(LABEL):
        encoded = samples.table[LABEL].combine_chunks().dictionary_encode()
        classes = np.asarray(encoded.indices.fill_null(-1), np.int64)
    return SliceWorth(judged, classes)
