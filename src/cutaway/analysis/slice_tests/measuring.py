"""What a slice reaches: its rows, the metric there, the average and its 95 % interval. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.filters import Filter, parse_filter, rows_where
from cutaway.analysis.filters.condition import CLUSTER
from cutaway.analysis.samples import CORRECT, LABEL, SUBSET, Samples
from cutaway.analysis.slice_tests.slice_test import ACCURACY, ALL, ERROR, SliceTest
from cutaway.analysis.statistics.intervals import Z95, mean_interval, share_interval
from cutaway.arrays import BoolArray, Float64Array
from cutaway.errors import ConfigurationError, did_you_mean, refuse_unknown

__all__ = ["HELD_OUT", "Measured", "interval_of", "measure", "metric_values", "slice_rows", "subset_rows"]

HELD_OUT = ("validation", "test")
# What a name without one of these in front of it may stand for.
_PREFIXES = ("metadata.", "metric.", "loss.")
_FAILED = "error"


@dataclass(frozen=True)
class Measured:
    """The average of a slice's values with its 95 % interval; NaN where there are too few values for one.

    `count` values were counted; `missing` samples of the slice have none. `subsets` are those that were looked at.
    """

    value: float
    low: float
    high: float
    count: int
    missing: int
    subsets: tuple[str, ...]


def measure(samples: Samples, test: SliceTest) -> Measured:
    """Return what the slice of a test reaches. Raises `ConfigurationError` where these samples lack what it names."""
    looked_at = subset_rows(samples, test)
    chosen = looked_at & slice_rows(samples, test)
    values = metric_values(samples, test)[chosen]
    counted = values[~np.isnan(values)]
    value, low, high = interval_of(counted, test)
    subsets = tuple(dict.fromkeys(samples.table[SUBSET].filter(pa.array(looked_at)).to_pylist()))
    return Measured(value, low, high, len(counted), int(_lacking(samples, test, chosen, values)), subsets)


def subset_rows(samples: Samples, test: SliceTest) -> BoolArray:
    """Return the rows of the subsets that a test is about; without any named the held-out ones, else all."""
    held = samples.table[SUBSET].to_pylist()
    known = list(dict.fromkeys(held))
    wanted = test.subsets or tuple(name for name in HELD_OUT if name in known) or (ALL,)
    if wanted == (ALL,) and ALL not in known:
        return np.ones(len(samples), np.bool_)
    for name in wanted:
        refuse_unknown("subset", name, known)
    return np.isin(np.array(held, object), wanted) if held else np.zeros(0, np.bool_)


def slice_rows(samples: Samples, test: SliceTest) -> BoolArray:
    """Return the rows for which all conditions of a test hold."""
    return rows_where(samples.table, [_filter(samples.table, text) for text in test.conditions])


def metric_values(samples: Samples, test: SliceTest) -> Float64Array:
    """Return the metric of every sample, NaN where there is none.

    A sample for which the model has no answer, or that could not be evaluated, counts as wrong in `accuracy` and
    `error`: who uses the model has no answer either. Samples without a label have neither.
    """
    if not test.is_share or CORRECT not in samples.table.column_names:
        return samples.numbers(_metric_column(samples, test))
    right = samples.numbers(CORRECT)
    right = np.where(np.isnan(right) & _owed(samples), 0.0, right)
    return 1.0 - right if test.metric == ERROR else right


def interval_of(values: Float64Array, test: SliceTest) -> tuple[float, float, float]:
    """Return the average of values and its 95 % interval: Wilson's of shares, Student's of other means."""
    count = len(values)
    if not count:
        return np.nan, np.nan, np.nan
    if test.average == "median":
        return _median(values)
    if np.isin(values, (0.0, 1.0)).all():
        yes = int(values.sum())
        low, high = share_interval([yes], [count])
        # As a quotient, so that 19 of 20 is exactly the 0.95 that a person writes.
        return yes / count, float(low[0]), float(high[0])
    with np.errstate(invalid="ignore", over="ignore"):
        value = float(values.mean())
        deviation = values.std(ddof=1) if count > 1 else np.nan
    low, high = mean_interval(np.array([value]), np.array([deviation]), np.array([count]))
    return value, float(low[0]), float(high[0])


def _median(values: Float64Array) -> tuple[float, float, float]:
    """Return the median, and the values between which it lies by their ranks, whatever their distribution."""
    ordered, count = np.sort(values), len(values)
    half = Z95 * np.sqrt(count) / 2
    first, last = int(np.floor(count / 2 - half)), int(np.ceil(count / 2 + half))
    known = first >= 0 and last < count
    return float(np.median(values)), *((float(ordered[first]), float(ordered[last])) if known else (np.nan, np.nan))


def _lacking(samples: Samples, test: SliceTest, chosen: BoolArray, values: Float64Array) -> int:
    """Return how many samples of the slice lack a value; one without a label lacks no accuracy."""
    lacking = np.isnan(values)
    if test.is_share and CORRECT in samples.table.column_names:
        return 0
    return int((lacking & _expected(samples)[chosen]).sum())


def _expected(samples: Samples) -> BoolArray:
    """Return the samples that can have a loss or a metric: where some are labelled, the labelled and the failed."""
    return _owed(samples) if samples.has(LABEL) else np.ones(len(samples), np.bool_)


def _owed(samples: Samples) -> BoolArray:
    """Return the samples that have a label, or that failed before it was known."""
    owed = np.zeros(len(samples), np.bool_)
    for name in (LABEL, _FAILED):
        if name in samples.table.column_names:
            owed |= np.asarray(pc.is_valid(samples.table[name]).to_numpy(), np.bool_)
    return owed


def _metric_column(samples: Samples, test: SliceTest) -> str:
    known = samples.table.column_names
    if test.metric == ERROR:
        # The column of that name says why a sample failed, and is no metric.
        known = [name for name in known if name != _FAILED]
    if test.is_share and not _matches(test.metric, known):
        raise ConfigurationError(
            f"There is no {ACCURACY if test.metric == ACCURACY else 'error rate'}: these samples do not have one class "
            "each, with a label and a prediction.",
            hint=_metrics_there(samples),
        )
    return _resolved(test.metric, known, "metric", _metrics_there(samples))


def _metrics_there(samples: Samples) -> str:
    numbers = [
        field.name
        for field in samples.table.schema
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_boolean(field.type)
    ]
    return f"Columns of numbers are {', '.join(numbers) or 'none'}."


def _filter(table: pa.Table, text: str) -> Filter:
    known = table.column_names
    try:
        # With the columns, so that names that hold an operator are understood.
        return parse_filter(text, table)
    except ConfigurationError:
        parsed = parse_filter(text)
        if parsed.column == CLUSTER:
            raise
        return replace(parsed, column=_resolved(parsed.column, known, "column"))


def _resolved(name: str, known: Iterable[str], kind: str, listed: str = "") -> str:
    """Return the column that a name stands for: itself, or the only one of that name in metadata, metrics, losses."""
    there = list(known)
    found = _matches(name, there)
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigurationError(f"{name!r} may be {' or '.join(found)}.", hint="Write which.")
    short = [one.split(".", 1)[-1] for one in there]
    hint = did_you_mean(name, [*there, *short])
    raise ConfigurationError(
        f"There is no {kind} {name!r}.", hint=f"{hint} {listed or 'There are ' + ', '.join(there) + '.'}"
    )


def _matches(name: str, known: Iterable[str]) -> list[str]:
    there = list(known)
    return [name] if name in there else [one for prefix in _PREFIXES if (one := f"{prefix}{name}") in there]
