"""A metric against metadata: the mean of one column along another, with counts and intervals. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.analysis.curves.binning import bin_numbers, summed_up
from cutaway.analysis.curves.strength import FEWEST, Strength, rank_correlation, rank_share
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, Samples
from cutaway.analysis.samples.coding import Coded, coded, left_out, most_frequent
from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["MOST_VALUES", "Curve", "curve"]


# Of a column of texts, and of the column that splits a curve: no table or figure of more values is readable.
MOST_VALUES = 100
# A mean over fewer samples a value, on average, is the samples themselves.
FEWEST_A_VALUE = 2


class _Axis(NamedTuple):
    """The bin of each sample, -1 where it has none; what the bins are; what is to be said of them."""

    places: Int64Array
    columns: dict[str, pa.Array]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Curve:
    """The mean of column `y` along column `x`, where `by` is given split by that column.

    `table` has a row for each bin that holds samples, in the order of `x`. Along numbers (`kind`) `from` and `to` are
    the smallest and largest `x` in the bin; along values such as classes `value` is the one it stands for. `count` is
    how many samples the bin holds; `mean`, `median`, `min` and `max` are those of `y`; `low` and `high` a 95 %
    interval of the mean (Wilson's where `y` is yes or no, else Student's; null for one sample). A split table begins
    with the column `by`. `strength` says how strongly the two go together over all samples, split or not; None where
    one of them is constant or the samples are too few. `within` says it for each part of a split curve: classes that
    differ in both columns can hide what holds in each of them.
    """

    x: str
    y: str
    by: str | None
    kind: Literal["numbers", "values"]
    table: pa.Table
    strength: Strength | None
    count: int
    missing: int
    notes: tuple[str, ...]
    within: Mapping[str, Strength] = field(default_factory=dict)

    def words(self) -> str:
        """Say in one sentence what the curve shows: `loss rises with metadata.distance: rank correlation 0.41 ...`."""
        if self.strength is None:
            return f"{self.y} against {self.x}: nothing can be said of how they go together, {self.count:,} samples"
        if self.kind == "values":
            differs = "differs" if self.strength.p_value < 0.05 else "hardly differs"
            return f"{self.y} {differs} by {self.x}: {self.strength}{self._words_within()}"
        low, high = self.strength.low or 0.0, self.strength.high or 0.0
        goes = "rises" if low > 0 else "falls" if high < 0 else "neither rises nor falls"
        return f"{self.y} {goes} with {self.x}: {self.strength}{self._words_within()}"

    def _words_within(self) -> str:
        found = sorted(one.value for one in self.within.values())
        if not found:
            return ""
        return f"; within {self.by} {found[0]:z.2f} to {found[-1]:z.2f}, median {np.median(found):z.2f}"


def curve(
    samples: Samples,
    x: str,
    y: str = LOSS,
    *,
    bins: int = 10,
    by: str | None = None,
) -> Curve:
    """Return the mean of column `y` along column `x`, in so many bins, where asked split `by` another column.

    Along a column of numbers the bins hold about as many samples each; a column of no more than `bins` different
    numbers has a bin for each. Along texts, and yes and no, each value is a bin, the 100 most frequent of them. All
    parts of a split curve have the same bins. Samples without a finite number are left out, and `notes` counts them.

    Raises `AnalysisUnavailable` where there is nothing to show: no value at all, an `x` that is the same everywhere,
    or one of texts that hardly ever repeat.
    """
    if bins < 1:
        raise ConfigurationError(f"`bins >= 1` must hold, but got bins={bins}.")
    analysis = f"curve of {y} against {x}"
    for name in (x, y, by):
        _refuse_absent(samples, name, analysis)
    numbers, along = samples.numbers(y), _column(samples, x)
    split = None if by is None else coded(by, samples.column(by), _order(samples, by))
    given = [(y, numbers), (x, along), *([] if by is None or split is None else [(by, split)])]
    used, notes = _usable(len(samples), given)
    kept, own, count = numbers[used], _some(along, used), int(used.sum())
    if not count:
        raise AnalysisUnavailable(analysis, f"none of {len(samples):,} samples has both. {' '.join(notes)}".strip())
    axis = _axis(x, own, bins, analysis)
    parts, within = None, {}
    if by is not None and split is not None:
        parts, more = _frequent(by, split.of(used), analysis)
        notes += more
        within = _within(parts, own, kept)
    strength = _strength(own, kept)
    kind: Literal["numbers", "values"] = "values" if isinstance(along, Coded) else "numbers"
    said = (*notes, *axis.notes, *_why_no_strength(strength, y, count))
    missing = len(samples) - count
    return Curve(x, y, by, kind, _table(parts, axis, kept), strength, count, missing, said, within)


def _refuse_absent(samples: Samples, name: str | None, analysis: str) -> None:
    """Say why the analysis does not apply where the samples lack a column that others have; a wrong name is another."""
    known = samples.table.column_names
    if name is not None and not samples.has(name) and name in (LABEL, PREDICTION, CORRECT, LOSS, *known):
        raise AnalysisUnavailable(
            analysis, f"no sample has a value in column {name!r}.", hint=f"The columns are {', '.join(known)}."
        )


def _column(samples: Samples, name: str) -> Float64Array | Coded:
    column = samples.column(name)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return samples.numbers(name)
    return coded(name, column, _order(samples, name))


def _order(samples: Samples, name: str) -> tuple[str, ...]:
    return samples.classes if name in (LABEL, PREDICTION) else ()


def _usable(rows: int, columns: Sequence[tuple[str, Float64Array | Coded]]) -> tuple[BoolArray, tuple[str, ...]]:
    """Return which rows have a value in all columns, and in words how many lack one, each counted once."""
    used, reasons = np.ones(rows, np.bool_), {}
    for name, column in columns:
        good = column.codes >= 0 if isinstance(column, Coded) else np.isfinite(column)
        kind = "value" if isinstance(column, Coded) else "finite number"
        reasons[f"without a {kind} in {name}"] = int((used & ~good).sum())
        used &= good
    return used, left_out(rows, reasons)


def _some(column: Float64Array | Coded, rows: BoolArray) -> Float64Array | Coded:
    return column.of(rows) if isinstance(column, Coded) else column[rows]


def _strength(x: Float64Array | Coded, y: Float64Array) -> Strength | None:
    return rank_share(x.codes, y) if isinstance(x, Coded) else rank_correlation(x, y)


def _within(parts: Coded, x: Float64Array | Coded, y: Float64Array) -> dict[str, Strength]:
    rows = ((name, parts.codes == number) for number, name in enumerate(parts.names))
    found = ((name, _strength(_some(x, own), y[own])) for name, own in rows)
    return {name: strength for name, strength in found if strength is not None}


def _axis(name: str, x: Float64Array | Coded, bins: int, analysis: str) -> _Axis:
    values = x.codes if isinstance(x, Coded) else x
    if (values == values[0]).all():
        raise AnalysisUnavailable(analysis, f"{name} is the same for all of {len(values):,} samples that have both.")
    return _along_values(name, x, analysis) if isinstance(x, Coded) else _along_numbers(x, bins)


def _along_numbers(x: Float64Array, bins: int) -> _Axis:
    places = bin_numbers(x, bins)
    smallest, largest = np.full(places.max() + 1, np.inf), np.full(places.max() + 1, -np.inf)
    np.minimum.at(smallest, places, x)
    np.maximum.at(largest, places, x)
    return _Axis(places, {"from": pa.array(smallest), "to": pa.array(largest)}, ())


def _along_values(name: str, values: Coded, analysis: str) -> _Axis:
    shown, notes = _frequent(name, values, analysis)
    return _Axis(shown.codes, {"value": pa.array(shown.names, pa.string())}, notes)


def _frequent(name: str, values: Coded, analysis: str) -> tuple[Coded, tuple[str, ...]]:
    """Keep the most frequent values, and say so; refuse a column whose values hardly ever repeat."""
    different = len(np.unique(values.codes))
    if different > MOST_VALUES and len(values.codes) < FEWEST_A_VALUE * different:
        raise AnalysisUnavailable(
            analysis,
            f"{name} has {different:,} different values in {len(values.codes):,} samples, too few samples a value for "
            "a mean.",
            hint="Choose a column whose values repeat, or one of numbers.",
        )
    shown, others = most_frequent(values, MOST_VALUES)
    if not others:
        return shown, ()
    samples = int((shown.codes < 0).sum())
    return shown, (
        f"Of {different:,} values of {name} the {MOST_VALUES} most frequent are shown; "
        f"the others have {samples:,} of {len(values.codes):,} samples.",
    )


def _table(parts: Coded | None, axis: _Axis, y: Float64Array) -> pa.Table:
    part = np.zeros(len(y), np.int64) if parts is None else parts.codes
    shown = (axis.places >= 0) & (part >= 0)
    width = int(axis.places.max()) + 1
    yes_no = bool(np.isin(y, (0.0, 1.0)).all())
    summary = summed_up((part * width + axis.places)[shown], y[shown], yes_no=yes_no)
    key = summary.pop("key").astype(np.int64)
    columns = {} if parts is None else {"by": pa.array(parts.names, pa.string()).take(pa.array(key // width))}
    columns |= {name: values.take(pa.array(key % width)) for name, values in axis.columns.items()}
    # One sample has no interval.
    columns |= {name: pa.array(values, mask=np.isnan(values)) for name, values in summary.items()}
    return pa.table(columns)


def _why_no_strength(strength: Strength | None, y: str, count: int) -> tuple[str, ...]:
    if strength is not None:
        return ()
    if count < FEWEST:
        return (f"{count} samples are too few to say how strongly the two go together; it takes {FEWEST}.",)
    return (f"{y} is the same, or its values are too few, to say how strongly the two go together.",)
