"""What can say which samples are meant: columns of numbers or of values without an order, and regions of samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.clusters.kmeans import kmeans, nearest_centres
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET, Samples
from cutaway.analysis.samples.coding import coded, most_frequent
from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.wording import number_between

__all__ = ["Described", "Region", "all_regions", "described", "describing", "regions_of", "short"]

# What no insight may be explained by: it says who a sample is, where it belongs, or how well it went.
OUTCOMES = frozenset({SAMPLE, SUBSET, LABEL, PREDICTION, CORRECT, LOSS, "error", "cluster"})
# Numbers with no more different values than this are values without an order.
FEW_VALUES = 20
# A column of texts with more values than this is a name, not a property; of those that are, the most common count.
MOST_VALUES = 200
# Numbers are cut into so many regions of equal size.
PARTS = 5

# Latent space is cut into so many cells, which are found in so many of the samples.
CELLS, ROWS = 20, 2000
# Of the values of a column, so many at most are regions.
MOST_REGIONS = 50


@dataclass(frozen=True)
class Described:
    """A column: `numbers` (NaN where there is none), or `codes` of `names` (-1 where there is none)."""

    name: str
    numbers: Float64Array | None
    codes: Int64Array
    names: tuple[str, ...]

    @property
    def known(self) -> BoolArray:
        """Which samples have a value."""
        return np.asarray(self.codes >= 0 if self.numbers is None else np.isfinite(self.numbers))


@dataclass(frozen=True)
class Region:
    """Some of the samples by a condition; `where` is empty where no condition says it, and `words` always do."""

    words: str
    rows: BoolArray
    where: tuple[str, ...]


def describing(samples: Samples) -> list[str]:
    """Return the names of columns that describe samples: metadata and a user's own, one plain value each."""
    found = []
    for name in samples.table.column_names:
        kind = samples.table[name].type
        plain = not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_null(kind))
        if name not in OUTCOMES and not name.startswith("metric.") and plain and samples.has(name):
            found.append(name)
    return found


def described(samples: Samples, name: str) -> Described | None:
    """Return a column as numbers or codes; None where it has one value only, or a different one for each sample."""
    column = samples.table[name]
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        numbers = samples.numbers(name)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        if _numbers_samples(samples, numbers):
            return None
        different = len(np.unique(numbers[np.isfinite(numbers)]))
        if different > FEW_VALUES:
            return Described(name, numbers, np.zeros(0, np.int64), ())
        column = pa.chunked_array([pa.array(numbers, from_pandas=True)])
        if pa.types.is_integer(samples.table[name].type):
            column = samples.table[name]
    elif pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = coded(name, column)
    if len(values.names) > max(MOST_VALUES, len(samples) // 2):
        return None
    values, _ = most_frequent(values, MOST_VALUES)
    return Described(name, None, values.codes, values.names) if len(values.names) > 1 else None


def _numbers_samples(samples: Samples, numbers: Float64Array) -> bool:
    """Whether whole numbers count the samples, or those of each subset: an id, not a property."""
    if not np.isfinite(numbers).all() or not np.equal(np.mod(numbers, 1), 0).all():
        return False
    subsets = np.asarray(samples.table[SUBSET].to_pylist(), object)
    own = [numbers, *(numbers[subsets == name] for name in set(subsets.tolist()))]
    counts = [len(one) > FEW_VALUES and len(np.unique(one)) == len(one) == np.ptp(one) + 1 for one in own]
    return bool(counts) and (counts[0] or all(counts[1:]))


def regions_of(column: Described) -> Iterator[Region]:
    """Yield the parts of a column: each value, or fifths of numbers."""
    if column.numbers is None:
        for code, value in enumerate(column.names):
            condition = f"{column.name} = {value}"
            yield Region(condition, np.asarray(column.codes == code), (condition,))
        return
    numbers = column.numbers
    fine = numbers[np.isfinite(numbers)]
    cuts = np.unique(np.quantile(fine, np.linspace(0, 1, PARTS + 1)[1:-1]))
    bins = np.where(np.isfinite(numbers), np.searchsorted(cuts, np.nan_to_num(numbers), "right"), -1)
    present = np.unique(bins[bins >= 0])
    for place, part in enumerate(present):
        rows = np.asarray(bins == part)
        low = short(numbers[bins == present[place - 1]].max(), numbers[rows].min()) if place else ""
        last = place + 1 == len(present)
        high = "" if last else short(numbers[rows].max(), numbers[bins == present[place + 1]].min())
        where = tuple(text for text in (low and f"{column.name} > {low}", high and f"{column.name} < {high}") if text)
        yield Region(" and ".join(where), rows, where)


def short(below: float, above: float) -> str:
    """Return a number strictly between two, in as few digits as that takes.

    >>> short(0.1234, 0.1299)
    '0.127'
    """
    low, high = float(below), float(above)

    def fits(number: float) -> bool:
        # The condition is compared in the column's own precision.
        return bool(low < np.float32(number) < high and low < number < high)

    return number_between(low, high, fits, low / 2 + high / 2)


def all_regions(
    samples: Samples, columns: Sequence[Described], clusters: Int64Array | None, rng: np.random.Generator
) -> Iterator[Region]:
    """Yield every region: values and fifths of columns, and clusters, or cells of latent space without clusters."""
    for column in columns:
        if len(column.names) <= MOST_REGIONS or column.name == LABEL:
            yield from regions_of(column)
    if clusters is None:
        yield from _cells(samples, rng)
        return
    for number in range(int(clusters.max(initial=-1)) + 1):
        yield Region(f"cluster {number}", np.asarray(clusters == number), (f"cluster {number}",))


def _cells(samples: Samples, rng: np.random.Generator) -> Iterator[Region]:
    usable = np.flatnonzero(samples.finite)
    if len(usable) < 10 * CELLS:
        return
    chosen = np.sort(rng.permutation(usable)[:ROWS])
    centre = samples.latents[chosen].mean(axis=0, dtype=np.float64).astype(np.float32)
    some = samples.latents[chosen] - centre
    found = kmeans(some, CELLS, rng)
    centres = np.stack([some[found == number].mean(axis=0) for number in np.unique(found)])
    cells = np.full(len(samples), -1, np.int64)
    cells[usable] = nearest_centres(samples.latents[usable] - centre, centres)
    labels = samples.table[LABEL].to_pylist() if samples.has(LABEL) else None
    for number in range(len(centres)):
        rows = np.asarray(cells == number)
        yield Region(_words(number, len(centres), rows, labels), rows, ())


def _words(number: int, count: int, rows: np.ndarray, labels: list[str] | None) -> str:
    text = f"Cell {number} of {count} of latent space"
    if labels is None or not rows.any():
        return text
    present = Counter(labels[row] for row in np.flatnonzero(rows).tolist()).most_common(2)
    return f"{text} (mostly {' and '.join(str(name) for name, _ in present)})"
