"""Statistics of tensors that were saved in full without any: computed from their values, as chunks for readers.

Knows neither files nor rules, and does not decide which tensors lack statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from itertools import groupby

import numpy as np

from cutaway.arrays import Array
from cutaway.tensors.blocked_statistics import StatisticsPlan
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.tensors.statistics import reference_change, reference_statistics
from cutaway.tensors.statistics_blocks import StatisticsChunk

__all__ = ["ValueStatistics", "change_between", "chunks_of_values", "statistics_of_value"]

# Of one tensor; without its change, which needs another value.
ValueStatistics = Mapping[str, float]


def statistics_of_value(value: Array) -> ValueStatistics | None:
    """Return the statistics of a tensor as a hook records them; None where it does not hold numbers."""
    numbers = _numbers(value)
    if numbers is None:
        return None
    if numbers.dtype in (np.float16, np.float32) and numbers.size > 1:
        # As quick as in a training; for a large tensor the reference takes many times its memory.
        plan = StatisticsPlan([("", numbers.size)])
        buffer = plan.buffer()
        buffer[plan.slices[0]] = numbers.reshape(-1)
        return {name: float(column[0]) for name, column in plan.compute(buffer).items() if name != "change"}
    return asdict(reference_statistics(numbers))


def change_between(now: Array, before: Array) -> float:
    """Return the l2 norm of the change of a tensor; NaN where its shape has changed too."""
    first, second = _numbers(now), _numbers(before)
    if first is None or second is None or first.shape != second.shape:
        return math.nan
    return reference_change(first, second)


def chunks_of_values(
    rows: Iterable[tuple[int, Mapping[str, ValueStatistics]]], change: Callable[[str, int], float]
) -> Iterator[StatisticsChunk]:
    """Yield chunks of the statistics of some steps, ascending; `change` is asked for a tensor and a step where needed.

    The activity of channels is not among them: it says something of an activation only, and a value does not say
    whether it is one.
    """
    for names, group in groupby(rows, key=lambda row: tuple(row[1])):
        if names:
            yield _chunk(names, list(group), change)


def _chunk(
    names: tuple[str, ...], rows: list[tuple[int, Mapping[str, ValueStatistics]]], change: Callable[[str, int], float]
) -> StatisticsChunk:
    steps = [step for step, _ in rows]
    known = {
        column: np.array([[found[name][column] for name in names] for _, found in rows], np.float64)
        for column in STATISTIC_COLUMNS
        if column != "change"
    }

    @cache
    def changes() -> Array:
        return np.array([[change(name, step) for name in names] for step in steps], np.float64)

    return StatisticsChunk(
        names,
        np.array(steps, np.int64),
        lambda column: changes() if column == "change" else known[column],
        lambda _: [None] * len(steps),
        of_values=True,
    )


def _numbers(value: Array) -> Array | None:
    """Return what statistics are of; of complex values the real and imaginary parts, as a hook takes them."""
    if value.dtype.kind == "c":
        return np.atleast_1d(np.ascontiguousarray(value)).view(f"f{value.dtype.itemsize // 2}")
    return value if value.dtype.kind in "biuf" else None
