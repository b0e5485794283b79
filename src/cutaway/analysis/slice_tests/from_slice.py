"""Turns a weak slice, or the insight about one, into the test that it must pass from now on: as good as the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.analysis.filters import parse_filter
from cutaway.analysis.filters.condition import CLUSTER
from cutaway.analysis.samples import CORRECT, Samples
from cutaway.analysis.slice_tests.measuring import metric_values, slice_rows, subset_rows
from cutaway.analysis.slice_tests.slice_test import ACCURACY, ERROR, FEWEST, SliceTest
from cutaway.analysis.slice_tests.text import parse_test
from cutaway.analysis.statistics.intervals import mean_interval, share_interval
from cutaway.errors import ConfigurationError

__all__ = ["conditions_of", "insight_test_of", "slice_test_of"]

_SMALLER_IS_BETTER = (ERROR, "loss")
_DIGITS = 3
# Other kinds are about the data, or about no slice.
_WEAK = "low-performance"
# A gap is about a slice where its measure is what samples are judged by, and about whole subsets otherwise.
_GAP, _JUDGED = "domain-gap", (ERROR, "loss")


def slice_test_of(
    samples: Samples,
    where: Sequence[str],
    *,
    metric: str | None = None,
    subsets: Sequence[str] = (),
    name: str = "",
) -> SliceTest:
    """Return the test that the slice `where` is as good as the rest of the samples.

    The bound is what the rest reaches, less the 95 % interval of a slice of this size: a slice that is no worse than
    the rest passes 39 times in 40, and a weak one does not until it is mended. It is rounded to three digits, in the
    slice's favour. `metric` is accuracy where each sample has one class, otherwise the loss. Of other metrics the side
    on which the rest lies is the good one. Raises `ConfigurationError` for a slice that a later run does not have,
    such as a cluster, and for too few samples inside or outside.
    """
    chosen = metric or (ACCURACY if samples.has(CORRECT) else "loss")
    draft = SliceTest(chosen, 0.0, subsets=tuple(subsets), conditions=tuple(where), name=name)
    if not where or any(parse_filter(one).column == CLUSTER for one in where):
        raise ConfigurationError(
            f"{' and '.join(where) or 'No condition'} is no slice that a later run has.",
            hint=(
                "Tests need conditions on labels, predictions, metadata or metrics: clusters are found anew in every "
                "run."
            ),
        )
    looked_at, inside = subset_rows(samples, draft), slice_rows(samples, draft)
    values = metric_values(samples, draft)
    known = looked_at & ~np.isnan(values)
    within, rest = values[known & inside], values[known & ~inside]
    if min(len(within), len(rest)) < FEWEST:
        raise ConfigurationError(
            f"A test needs {FEWEST} samples inside and outside of its slice, but {' and '.join(where)} has "
            f"{len(within)} inside and {len(rest)} outside."
        )
    at_least = draft.metric not in _SMALLER_IS_BETTER and bool(chosen == ACCURACY or within.mean() <= rest.mean())
    low, high = _expected(rest, len(within))
    bound = _rounded(low if at_least else high, up=not at_least)
    made = SliceTest(chosen, bound, at_least, tuple(subsets), tuple(where), name=name)
    if parse_test(made.text, name) != made:
        raise ConfigurationError(f"The slice {' and '.join(where)} cannot be written as a line.")
    return made


def insight_test_of(samples: Samples, row: Mapping[str, Any]) -> SliceTest | None:
    """Return the test of a row of a table of insights; None for one that names no weak slice.

    Of the row it takes `kind`, `where` (conditions joined by `and`) and `measure` (error or loss). Raises
    `ConfigurationError` where no test can be made of the slice.
    """
    weak = row["kind"] == _WEAK or (row["kind"] == _GAP and row["measure"] in _JUDGED)
    if not weak or not row["where"]:
        return None
    metric = ACCURACY if row["measure"] == ERROR else row["measure"]
    return slice_test_of(samples, conditions_of(row["where"]), metric=metric)


def conditions_of(where: str) -> tuple[str, ...]:
    """Return the conditions that a table of insights has joined by `and`.

    >>> conditions_of("label = 4 and metadata.width > 2")
    ('label = 4', 'metadata.width > 2')
    """
    return parse_test(f"loss where {where} at most 0").conditions if where else ()


def _expected(rest: np.ndarray[tuple[int], np.dtype[np.float64]], count: int) -> tuple[float, float]:
    """Return between which averages so many samples of the rest would lie, 19 times of 20."""
    if np.isin(rest, (0.0, 1.0)).all():
        low, high = share_interval([rest.mean() * count], [count])
    else:
        means, deviations = np.array([rest.mean()]), np.array([rest.std(ddof=1)])
        low, high = mean_interval(means, deviations, np.array([count]))
    return float(low[0]), float(high[0])


def _rounded(value: float, *, up: bool) -> float:
    """Round to three digits that count, upwards or downwards."""
    if not value or not math.isfinite(value):
        return value
    places = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    scaled = value * 10.0**places
    # Without the hair's breadth that the product may be off.
    whole = math.ceil(scaled - 1e-9) if up else math.floor(scaled + 1e-9)
    return round(whole / 10.0**places, max(places, 0))
