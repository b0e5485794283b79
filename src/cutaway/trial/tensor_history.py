"""One row per tensor, made of columns of statistics. Functions of arrays; reads and prints nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.arrays import Array, Float64Array
from cutaway.tensors.statistic_names import COUNTS, STATISTIC_NAMES
from cutaway.trial.tensor_kinds import EVERYWHERE

__all__ = ["TensorHistory", "group_order", "ordered_collections", "tensor_row"]

# The order in which groups of tensors interest people.
_GROUPS = ("losses", "metrics", "predictions", "labels", "gradients", "weights", "biases", "outputs", "inputs")
MOST_POINTS = 120


@dataclass(frozen=True)
class TensorHistory:
    """One tensor: its statistics at one step, and how the chosen one went over all steps.

    `series` holds at most 120 values, each the mean of an equal stretch of steps; NaN where a value was not finite.
    """

    name: str
    collections: list[str]
    step: int
    size: int
    statistics: dict[str, float | None]
    steps: int
    nonfinite_steps: int
    first_nonfinite_step: int | None
    series: list[float | None]

    @property
    def group(self) -> str:
        """The collection under which it is listed."""
        return self.collections[0] if self.collections else "other"


def tensor_row(
    name: str, collections: list[str], columns: Mapping[str, Array], at: int, statistic: str
) -> TensorHistory:
    """Make the row of one tensor from its columns, which are in the order of steps; `at` is the place to show."""
    steps, bad = columns["step"], columns["nonfinite"] > 0
    series = columns[statistic].astype(np.float64)
    # Counts stay numbers where a tensor is not finite; everything else is a fault there.
    if statistic not in COUNTS:
        series[bad] = np.inf
    return TensorHistory(
        name=name,
        collections=collections,
        step=int(steps[at]),
        size=int(columns["size"][at]),
        statistics={key: _statistic_or_none(columns[key][at], key) for key in STATISTIC_NAMES},
        steps=len(steps),
        nonfinite_steps=int(bad.sum()),
        first_nonfinite_step=int(steps[bad][0]) if bad.any() else None,
        series=_stretches(series, missing=statistic == "change"),
    )


def ordered_collections(names: Iterable[str]) -> list[str]:
    """Put the collection that says most about a tensor first, and leave out those that say nothing."""
    told = [name for name in names if name not in EVERYWHERE]
    return sorted(told, key=lambda name: _GROUPS.index(name) if name in _GROUPS else len(_GROUPS))


def group_order(row: TensorHistory) -> tuple[int, str]:
    """Sort rows by group; within one, sorting keeps the order in which the model has them."""
    return (_GROUPS.index(row.group) if row.group in _GROUPS else len(_GROUPS), row.group)


def _stretches(series: Float64Array, *, missing: bool) -> list[float | None]:
    """Average into at most `MOST_POINTS` stretches. Infinity is a fault, NaN may be a missing value."""
    if len(series) > MOST_POINTS:
        starts = np.linspace(0, len(series), MOST_POINTS, endpoint=False).astype(int)
        known = ~np.isnan(series) if missing else np.ones(len(series), bool)
        counts = np.add.reduceat(known.astype(int), starts)
        with np.errstate(invalid="ignore"):
            series = np.add.reduceat(np.where(known, series, 0.0), starts) / np.where(counts, counts, np.nan)
    return [
        None if missing and math.isnan(value) else value if math.isfinite(value) else math.nan
        for value in series.tolist()
    ]


def _statistic_or_none(value: Any, column: str) -> float | None:
    if isinstance(value, np.integer):
        return int(value)
    # A column of doubles gives its nulls as NaN; only the change since the last statistics can be null.
    return None if column == "change" and np.isnan(value) else float(value)
