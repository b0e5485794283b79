"""The slices of samples that two models are compared on: one condition each. Looks at no answers of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE
from cutaway.analysis.samples.coding import coded, most_frequent
from cutaway.arrays import BoolArray, Float64Array
from cutaway.wording import number_between

__all__ = ["RANGES", "Condition", "conditions", "sliceable"]

# Numbers are cut into so many parts of about as many samples each, and their ends into parts of 1 and 2 %.
PARTS = (2, 5, 10, 20)
ENDS = (0.01, 0.02)
RANGES = ("between", "<", ">")
"""How a range of numbers is told."""
# Of a column with more values the most frequent are looked at.
MOST_VALUES = 100
# What a model said of a sample is no slice: samples that one model got wrong are easier for any other.
_ANSWERS = (SAMPLE, PREDICTION, CORRECT, LOSS, "error")
_OF_MODEL = ("metric.", "loss.")


class Condition(NamedTuple):
    """A condition as `parse_filter` reads it, the column it is about, and the rows for which it holds."""

    text: str
    column: str
    rows: BoolArray


def sliceable(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column says something about samples that is one plain value for each."""
    plain = not (pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_null(column.type))
    return plain and name not in _ANSWERS and not name.startswith(_OF_MODEL)


def conditions(table: pa.Table, fewest: int) -> Iterator[Condition]:
    """Yield each slice of at least `fewest` rows that is not all of them, column by column."""
    for name in table.column_names:
        column = table[name]
        if not sliceable(name, column):
            continue
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        found = _of_numbers(name, column) if numeric and name != LABEL else _of_values(name, column)
        for one in found:
            if fewest <= int(one.rows.sum()) < table.num_rows:
                yield one


def _of_values(name: str, column: pa.ChunkedArray) -> Iterator[Condition]:
    values, _ = most_frequent(coded(name, column), MOST_VALUES)
    for number, value in enumerate(values.names):
        yield Condition(f"{name} = {value}", name, np.asarray(values.codes == number))


def _of_numbers(name: str, column: pa.ChunkedArray) -> Iterator[Condition]:
    numbers = np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(), np.float64)
    known = np.isfinite(numbers)
    different = np.unique(numbers[known])
    if len(different) <= PARTS[-1]:
        yield from _of_values(name, column)
        return
    seen: set[tuple[int, int]] = set()
    ranges = list(_ranges())
    # Ends are values that occur, so that the condition in words has the same rows.
    quantiles = np.quantile(numbers[known], ranges, method="inverted_cdf")
    for (low, _), ends in zip(ranges, quantiles, strict=True):
        first = int(np.searchsorted(different, ends[0], side="right")) if low > 0 else 0
        first, last = min(first, len(different) - 1), int(np.searchsorted(different, ends[1]))
        if (first, last) in seen or first > last:
            continue
        seen.add((first, last))
        with np.errstate(invalid="ignore"):
            rows = np.asarray((numbers >= different[first]) & (numbers <= different[last]))
        text = _range_words(name, different, (first, last), column.type, open_ends=not np.isinf(numbers).any())
        yield Condition(text, name, rows)


def _range_words(
    name: str, different: Float64Array, places: tuple[int, int], kind: pa.DataType, *, open_ends: bool
) -> str:
    """Return the condition that holds for the values at some places of all that occur, in as few digits as it takes."""
    first, last = places
    if pa.types.is_integer(kind):
        return f"{name} between {int(different[first])} {int(different[last])}"
    lowest, highest = first == 0, last + 1 == len(different)
    span = float(different[-1] - different[0]) or 1.0
    low = _between(float(different[first] - span if lowest else different[first - 1]), float(different[first]), kind)
    high = _between(float(different[last] + span if highest else different[last + 1]), float(different[last]), kind)
    if open_ends and lowest != highest:
        return f"{name} < {high}" if lowest else f"{name} > {low}"
    return f"{name} between {low} {high}"


def _between(beyond: float, end: float, kind: pa.DataType) -> str:
    """Return a number between an end and the next value beyond it, or the end itself."""
    below, above = sorted((beyond, end))
    narrow = kind.to_pandas_dtype() if pa.types.is_floating(kind) else np.float64

    def fits(number: float) -> bool:
        # The condition is compared in the column's own precision.
        with np.errstate(over="ignore"):
            return bool(below < float(narrow(number)) < above)

    return number_between(below, above, fits, end)


def _ranges() -> Iterator[tuple[float, float]]:
    for parts in PARTS:
        for part in range(parts):
            yield part / parts, (part + 1) / parts
    for end in ENDS:
        yield 0.0, end
        yield 1 - end, 1.0
