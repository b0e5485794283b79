"""How each subset did, with its interval: the share of right answers where there are labels, else the mean loss."""

from __future__ import annotations

import math

import numpy as np

from cutaway.analysis.report.values import Score
from cutaway.analysis.samples import CORRECT, LOSS, SUBSET, Samples
from cutaway.analysis.statistics.intervals import mean_interval, share_interval
from cutaway.arrays import BoolArray
from cutaway.run.evaluated.columns import ERROR

__all__ = ["scores_of"]


def scores_of(samples: Samples) -> tuple[Score, ...]:
    """Return the score of each subset, in the order in which they come; a subset without either has only its count.

    Accuracy is the share of right answers among the samples with a label and a prediction, the mean loss that of the
    finite losses; samples that failed have neither, and are counted apart. No figure is of two subsets.

    >>> made = Samples.from_arrays(np.zeros((2, 1)), ["a", "a"], columns={"correct": [True, False]})
    >>> [(one.subset, one.what, one.value) for one in scores_of(made)]
    [('samples', 'accuracy', 0.5)]
    """
    subsets = np.array([str(one) for one in samples.column(SUBSET).to_pylist()], object)
    return tuple(_score(samples, name, subsets == name) for name in dict.fromkeys(subsets.tolist()))


def _score(samples: Samples, subset: str, rows: BoolArray) -> Score:
    count = int(rows.sum())
    failed = int(_failed(samples)[rows].sum())
    nothing = Score(subset, count, failed, "", math.nan, math.nan, math.nan)
    for what, column in (("accuracy", CORRECT), ("mean loss", LOSS)):
        if not samples.has(column):
            continue
        values = samples.numbers(column)[rows]
        known = values[np.isfinite(values)]
        if not len(known):
            continue
        if column == CORRECT:
            low, high = share_interval([known.sum()], [len(known)])
        else:
            spread = np.array([known.std(ddof=1) if len(known) > 1 else np.nan])
            low, high = mean_interval(np.array([known.mean()]), spread, np.array([len(known)]))
        return Score(subset, count, failed, what, float(known.mean()), float(low[0]), float(high[0]))
    return nothing


def _failed(samples: Samples) -> BoolArray:
    """Return which samples could not be evaluated; where nothing says why, those without a latent vector."""
    if ERROR not in samples.table.column_names:
        return ~samples.finite
    return np.asarray(samples.table[ERROR].is_valid().to_numpy(), np.bool_)
