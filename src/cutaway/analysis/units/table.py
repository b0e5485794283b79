"""What each unit of a latent space answers to: the samples that drive it most, the classes it serves, whether it lives.

Looks at one unit after the other; neither compares units with each other nor names what they mean.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.counting import Counter
from cutaway.analysis.samples import LABEL, PREDICTION, Samples
from cutaway.analysis.samples.coding import Coded, coded, left_out
from cutaway.analysis.units.serving import ClassComparison
from cutaway.arrays import Float32Array, IndexArray
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

__all__ = ["Units", "left_out_rows", "refuse_nothing", "unit_blocks", "unit_table"]

ANALYSIS = "feature view"
# Of numbers held at once: 64 MB.
MOST_NUMBERS = 1 << 24

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Units:
    """The units of a latent space, in three tables.

    `units` has a row for each: `state` is `dead` (0 for every sample), `constant` (another number for every sample),
    `always on` (above 0 for every sample) or `varies`; `active` is the share of samples with a value above 0; `mean`,
    `std`, `min` and `max` are over all samples; `serves` counts the classes that it serves, null where there are none
    to compare. `drivers` has the samples with the highest values of each unit, highest first; units of one value have
    none. `classes` has the classes that each unit answers to most, best first: `count` samples of the class, their
    `mean` and the mean of the `rest`, `auc` (the chance that a sample of the class has a higher value than another
    one), `effect` (the difference of the means in standard deviations), and whether the unit `serves` it: an AUC of
    0.8 or more, beyond what chance gives among so many units and classes.
    """

    units: pa.Table
    drivers: pa.Table
    classes: pa.Table
    count: int
    notes: tuple[str, ...]

    def words(self) -> str:
        """Say how many units live, and how many serve a class."""
        states = Tally(self.units["state"].to_pylist())
        said = ", ".join(f"{states[state]:,} {state}" for state in ("dead", "constant", "always on") if states[state])
        serving = sum(1 for one in self.units["serves"].to_pylist() if one)
        known = self.units["serves"].null_count < self.units.num_rows
        parts = [said] * bool(said) + [f"{serving:,} serve a class"] * known
        return f"{self.units.num_rows:,} units over {self.count:,} samples: {', '.join(parts) or 'all vary'}"


def unit_table(samples: Samples, *, top: int = 10, progress: Listener | None = None) -> Units:
    """Return what each unit (column) of the samples' latent space answers to: `top` samples and `top` classes each.

    Classes are the labels, or where there are none the predictions. Takes memory for a few units at a time, whatever
    the number of samples, units and classes.
    """
    if top < 1:
        raise ConfigurationError(f"`top >= 1` must hold, but got top={top}.")
    refuse_nothing(samples, ANALYSIS)
    labels, notes = _labels(samples)
    width = samples.latents.shape[1]
    comparison = None if labels is None else ClassComparison(labels.of(samples.finite), width, top)
    if comparison is not None and not comparison.applies:
        comparison, notes = None, (*notes, "The samples are of fewer than two classes, so there are none to compare.")
    collected = _Collected(samples, labels, comparison, top)
    counter = Counter(progress, width, "units", "feature view")
    for first, block in unit_blocks(samples):
        for place, values in enumerate(block):
            collected.add(first + place, values)
            counter.advance()
    return Units(*collected.tables(), int(samples.finite.sum()), (*left_out_rows(samples), *notes))


def unit_blocks(samples: Samples) -> Iterator[tuple[int, Float32Array]]:
    """Yield the number of a first unit, and the values of it and the next ones: a row a unit, a column a usable row."""
    rows, width = samples.latents.shape
    whole = bool(samples.finite.all())
    step = max(1, MOST_NUMBERS // max(rows, 1))
    for first in range(0, width, step):
        block = np.ascontiguousarray(samples.latents[:, first : first + step].T)
        yield first, block if whole else block[:, samples.finite]


def refuse_nothing(samples: Samples, analysis: str) -> None:
    """Raise where no row or no unit is there to look at."""
    if not samples.latents.shape[1]:
        raise AnalysisUnavailable(analysis, "the latent space has no units.")
    if not samples.finite.any():
        raise AnalysisUnavailable(analysis, f"none of {len(samples):,} samples has a finite latent vector.")


def left_out_rows(samples: Samples) -> tuple[str, ...]:
    """Say how many samples have no usable latent vector."""
    return left_out(len(samples), {"without a finite latent vector": int((~samples.finite).sum())})


def _labels(samples: Samples) -> tuple[Coded | None, tuple[str, ...]]:
    for name in (LABEL, PREDICTION):
        if samples.has(name):
            column = coded(name, samples.column(name), samples.classes)
            return column, () if name == LABEL else ("There are no labels: classes are those that the model predicts.",)
    return None, ("The samples have no classes, so none can be said to be served.",)


class _Collected:
    """The rows of the three tables while they grow."""

    def __init__(self, samples: Samples, labels: Coded | None, comparison: ClassComparison | None, top: int) -> None:
        self._rows = np.flatnonzero(samples.finite)
        self._table, self._top = samples.table, top
        self._names = () if labels is None else labels.names
        self._comparison = comparison
        columns = ("state", "active", "mean", "std", "min", "max", "serves")
        self._units: Columns = {name: [] for name in ("unit", *columns)}
        self._drivers: Columns = {name: [] for name in ("unit", "rank", "row", "value")}
        self._classes: list[tuple[Any, ...]] = []

    def add(self, unit: int, values: Float32Array) -> None:
        low, high = float(values.min()), float(values.max())
        served = None
        if low < high:
            self._drive(unit, values)
            if self._comparison is not None:
                served = self._compare(unit, values, self._comparison)
        elif self._comparison is not None:
            served = 0
        active = int(np.count_nonzero(values > 0)) / len(values)
        spread = values.astype(np.float64).std() if low < high else 0.0
        mean = float(values.mean(dtype=np.float64)) if low < high else low
        row = (unit, _state(low, high), active, mean, float(spread), low, high, served)
        for column, value in zip(self._units.values(), row, strict=True):
            column.append(value)

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        units = pa.table({name: pa.array(values, _TYPES[name]) for name, values in self._units.items()})
        drivers = {name: pa.array(values, _TYPES[name]) for name, values in self._drivers.items()}
        rows = drivers.pop("row")
        for name in ("sample", LABEL, PREDICTION):
            if name in self._table.column_names:
                drivers[name] = self._table[name].take(rows)
        drivers["value"] = drivers.pop("value")
        names = ("unit", "class", "count", "mean", "rest", "auc", "effect", "serves")
        columns = list(zip(*self._classes, strict=True)) or [()] * len(names)
        types = {**_TYPES, "serves": pa.bool_()}
        classes = {name: pa.array(values, types[name]) for name, values in zip(names, columns, strict=True)}
        return units, pa.table(drivers), pa.table(classes)

    def _drive(self, unit: int, values: Float32Array) -> None:
        best = _highest(values, self._top)
        self._drivers["unit"] += [unit] * len(best)
        self._drivers["rank"] += range(1, len(best) + 1)
        self._drivers["row"] += self._rows[best].tolist()
        self._drivers["value"] += values[best].tolist()

    def _compare(self, unit: int, values: Float32Array, comparison: ClassComparison) -> int:
        found = comparison.compare(values)
        counts = comparison.counts
        for place, number in enumerate(found.classes.tolist()):
            figures = (float(column[place]) for column in (found.means, found.rest, found.auc, found.effect))
            self._classes.append((unit, self._names[number], int(counts[number]), *figures, bool(found.serves[place])))
        return found.served


_TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("unit", "rank", "row", "count", "serves"), pa.int64()),
    **dict.fromkeys(("active", "mean", "std", "min", "max", "value", "rest", "auc", "effect"), pa.float64()),
    **dict.fromkeys(("state", "class"), pa.string()),
}


def _state(low: float, high: float) -> str:
    if low == high:
        return "constant" if low else "dead"
    return "always on" if low > 0 else "varies"


def _highest(values: Float32Array, top: int) -> IndexArray:
    """Return the places of the highest values, highest first; of equal ones the first places."""
    if top < len(values):
        least = np.partition(values, len(values) - top)[len(values) - top]
        above = np.flatnonzero(values > least)
        chosen = np.concatenate([above, np.flatnonzero(values == least)[: top - len(above)]])
        chosen.sort()
    else:
        chosen = np.arange(len(values))
    return np.asarray(chosen[np.argsort(-values[chosen], kind="stable")], np.intp)
