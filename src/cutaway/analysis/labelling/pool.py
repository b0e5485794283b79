"""Which samples have no label yet, and which have one. Looks at columns and latent vectors only; chooses nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.analysis.samples.coding import left_out
from cutaway.arrays import BoolArray, IndexArray
from cutaway.errors import AnalysisUnavailable

__all__ = ["TRAINING", "UNLABELED", "Pool", "pool_of", "unlabelled"]


TRAINING, UNLABELED = "training", "unlabeled"
# In a table without a column of classes, samples of these subsets still have a ground truth: a number, a mask, boxes.
_WITH_TRUTH = (TRAINING, "validation", "test")


@dataclass(frozen=True)
class Pool:
    """The rows that can be chosen, the rows that have a label, and what is left out. All have finite latent vectors."""

    candidates: IndexArray
    labelled: IndexArray
    notes: tuple[str, ...] = ()


def unlabelled(samples: Samples) -> BoolArray:
    """Return which samples have no label: those of the subset `unlabeled`, and rows of others that lack one."""
    subsets = np.array(samples.table[SUBSET].to_pylist(), object)
    without = np.asarray(subsets == UNLABELED, np.bool_)
    if LABEL in samples.table.column_names:
        missing = np.asarray(samples.table[LABEL].is_null(nan_is_null=True).to_numpy(), np.bool_)
        # A table of regression or segmentation has no classes at all, and lacks no labels.
        return without | missing if samples.has(LABEL) else without | (missing & ~np.isin(subsets, _WITH_TRUTH))
    return np.asarray(without | ~np.isin(subsets, _WITH_TRUTH), np.bool_)


def pool_of(samples: Samples, usable: BoolArray, why: str, analysis: str) -> Pool:
    """Return what can be chosen among: unlabelled rows with finite latent vectors that are `usable` besides.

    `why` names those that are not usable. Raises where there is nothing to choose from.
    """
    without = unlabelled(samples)
    count = int(without.sum())
    if not count:
        raise AnalysisUnavailable(
            analysis,
            f"each of {len(samples):,} samples has a label.",
            hint=(
                f"Bind the samples that have none as subset {UNLABELED!r} (`set_unlabeled_data_preprocess`) and "
                "evaluate again."
            ),
        )
    unusable = {
        "without a finite latent vector": int((without & ~samples.finite).sum()),
        why: int((without & samples.finite & ~usable).sum()),
    }
    notes = left_out(count, unusable)
    candidates = np.flatnonzero(without & samples.finite & usable)
    if not len(candidates):
        raise AnalysisUnavailable(analysis, f"of {count:,} samples without a label none can be used.", hint=notes[0])
    return Pool(candidates, np.flatnonzero(~without & samples.finite), notes)
