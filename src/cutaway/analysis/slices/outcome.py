"""The outcome as it is tested: 0 and 1 as they are, anything else as normal scores of its ranks.

Ranks keep a few enormous losses from deciding what is worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.analysis.libraries import library
from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["ANALYSIS", "Target", "as_numbers", "measured_rows", "target_of"]

ANALYSIS = "slices"


@dataclass(frozen=True)
class Target:
    """What is tested for each row: 0 or 1 where `binary`, else normal scores; `spread` is their standard deviation."""

    scores: Float64Array
    binary: bool
    spread: float

    def take(self, rows: Int64Array) -> Target:
        """Return some of the rows."""
        return Target(self.scores[rows], self.binary, self.spread)


def as_numbers(outcome: Any) -> Float64Array:
    """Return an outcome as numbers, NaN where there is none."""
    try:
        if isinstance(outcome, pa.Array | pa.ChunkedArray):
            outcome = outcome.cast(pa.float64()).fill_null(np.nan)
        elif isinstance(outcome, list | tuple) or getattr(outcome, "dtype", None) == np.dtype(object):
            outcome = [np.nan if one is None else one for one in outcome]
        return np.asarray(outcome, np.float64)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ConfigurationError("`outcome` must be numbers, 1 for wrong or a loss, but some are not.") from error


def measured_rows(outcome: npt.ArrayLike, rows: int) -> BoolArray:
    """Return which rows have an outcome; an infinite one is one. Raises where it is not a number for each row."""
    numbers = as_numbers(outcome)
    if numbers.shape != (rows,):
        raise ConfigurationError(
            f"`outcome` must be one number for each of the {rows:,} rows, but has the shape {numbers.shape}."
        )
    known = ~np.isnan(numbers)
    values = np.unique(numbers[known])
    if not len(values):
        raise AnalysisUnavailable(ANALYSIS, "no sample has an outcome, such as whether it is wrong, or a loss.")
    if len(values) == 1:
        raise AnalysisUnavailable(
            ANALYSIS, f"the outcome is {values[0]:g} for all {int(known.sum()):,} samples, so none is worse."
        )
    return known


def target_of(outcome: Float64Array) -> Target:
    """Return an outcome as it is tested."""
    values = np.unique(outcome)
    if len(values) == 2:
        scores = (outcome == values[1]).astype(np.float64)
        return Target(scores, binary=True, spread=float(scores.std()))
    ranks = library("scipy.stats", "Finding slices").rankdata(outcome)
    scores = library("scipy.special", "Finding slices").ndtri((ranks - 0.5) / len(outcome))
    scores -= scores.mean()
    return Target(scores, binary=False, spread=float(scores.std()))
