"""The definitions in plain numpy: what is true of a network's scores, from the scores alone. Imports no Cutaway."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = [
    "Answers",
    "Bools",
    "Floats",
    "clipped",
    "mcnemar",
    "mean_interval",
    "nearest",
    "newcombe",
    "newcombe_paired",
    "percent",
    "welch",
    "wilson",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]

Z95 = 1.959963984540054
_CONDITION = re.compile(r"^(\S+) (!=|<=|>=|=|<|>|between) (.+)$")


@dataclass(frozen=True)
class Answers:
    """What a network answered to each sample, and what the data say of it. Classes are the digits."""

    ids: Texts
    subset: Texts
    labels: Ints
    scores: Floats
    latents: npt.NDArray[np.float32]
    columns: Mapping[str, npt.NDArray[np.generic]]

    @cached_property
    def predictions(self) -> Ints:
        """The class of the highest score."""
        return np.asarray(self.scores.argmax(axis=1))

    @cached_property
    def right(self) -> Bools:
        """Whether it is the label."""
        return np.asarray(self.predictions == self.labels)

    @cached_property
    def probabilities(self) -> Floats:
        """The softmax of the scores."""
        raised = np.exp(self.scores - self.scores.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    @cached_property
    def losses(self) -> Floats:
        """The cross-entropy of each sample."""
        top = self.scores.max(axis=1)
        whole = top + np.log(np.exp(self.scores - top[:, None]).sum(axis=1))
        return np.asarray(whole - self.scores[np.arange(len(self.labels)), self.labels])

    def of(self, subset: str | None) -> Bools:
        """Return the samples of a subset, all without one."""
        return np.ones(len(self.ids), np.bool_) if subset is None else np.asarray(self.subset == subset)

    def row(self, sample: str) -> int:
        """Return where a sample is."""
        return int(np.flatnonzero(self.ids == sample)[0])

    def confusion(self, rows: Bools) -> Ints:
        """Return the counts by label and prediction."""
        counts = np.zeros((10, 10), np.int64)
        np.add.at(counts, (self.labels[rows], self.predictions[rows]), 1)
        return counts

    def column(self, name: str) -> npt.NDArray[np.generic]:
        """Return a column by the name that conditions have for it."""
        own = {"label": self.labels, "prediction": self.predictions, "loss": self.losses, "subset": self.subset}
        return np.asarray(own[name] if name in own else self.columns[name.removeprefix("metadata.")])

    def numbers(self, name: str) -> Floats:
        """Return a column of metadata as numbers."""
        return np.asarray(self.columns[name], np.float64)

    def where(self, conditions: list[str]) -> Bools:
        """Return the samples for which all conditions hold, as `label = 4` or `metadata.ink between 0.1 0.2`."""
        rows = self.of(None)
        for condition in conditions:
            rows = rows & self._holds(condition)
        return rows

    def _holds(self, condition: str) -> Bools:
        found = _CONDITION.match(condition)
        if found is None:
            raise ValueError(f"This program does not know the condition {condition!r}.")
        name, operator, value = found[1], found[2], found[3].strip("'\"")
        column = self.column(name)
        if operator == "between":
            low, high = map(float, value.split())
            numbers = column.astype(np.float64)
            return np.asarray((numbers >= low) & (numbers <= high))
        if operator in ("=", "!="):
            equal = column.astype(str) == value if column.dtype.kind in "US" else column == float(value)
            return np.asarray(equal if operator == "=" else ~equal)
        numbers, bound = column.astype(np.float64), float(value)
        compared = {"<": numbers < bound, "<=": numbers <= bound, ">": numbers > bound, ">=": numbers >= bound}
        return np.asarray(compared[operator])


def wilson(yes: float, count: float) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    share, doubt = yes / count, Z95**2 / count
    centre = (share + doubt / 2) / (1 + doubt)
    half = math.sqrt(share * (1 - share) * doubt + doubt**2 / 4) / (1 + doubt)
    return (0.0 if yes == 0 else centre - half), (1.0 if yes == count else centre + half)


def newcombe(yes: tuple[float, float], counts: tuple[float, float]) -> tuple[float, float]:
    """Return the 95 % interval of the first share less the second, of different samples."""
    (low1, high1), (low2, high2) = wilson(yes[0], counts[0]), wilson(yes[1], counts[1])
    one, other = yes[0] / counts[0], yes[1] / counts[1]
    return one - other - math.hypot(one - low1, high2 - other), one - other + math.hypot(high1 - one, other - low2)


def newcombe_paired(both: int, worse: int, better: int, neither: int) -> tuple[float, float]:
    """Return the 95 % interval of a share after less before, of the same samples (Newcombe 1998, method 10)."""
    count = both + worse + better + neither
    before, after = (both + worse) / count, (both + better) / count
    (low_b, high_b), (low_a, high_a) = wilson(both + worse, count), wilson(both + better, count)
    margins = (both + worse) * (better + neither) * (both + better) * (worse + neither)
    cross = float(both * neither - worse * better)
    if cross > 0:
        cross = max(cross - count / 2, 0.0)
    phi = cross / math.sqrt(margins) if margins else 0.0
    down = (after - low_a) ** 2 - 2 * phi * (after - low_a) * (high_b - before) + (high_b - before) ** 2
    up = (high_a - after) ** 2 - 2 * phi * (high_a - after) * (before - low_b) + (before - low_b) ** 2
    return after - before - math.sqrt(max(down, 0.0)), after - before + math.sqrt(max(up, 0.0))


def mcnemar(worse: int, better: int) -> float:
    """Return the exact two-sided p of McNemar's test."""
    count, fewer = worse + better, min(worse, better)
    tail = float(sum(math.comb(count, one) for one in range(fewer + 1)) / 2**count)
    return min(1.0, 2 * tail)


def mean_interval(values: Floats) -> tuple[float, float]:
    """Return Student's 95 % interval of a mean."""
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def welch(one: Floats, other: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two means, by the normal distribution."""
    error = math.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    middle = float(one.mean() - other.mean())
    return middle - Z95 * error, middle + Z95 * error


def clipped(losses: Floats, rows: Bools) -> Floats:
    """Return losses cut off at the 1st and 99th percentile of some rows."""
    return np.asarray(np.clip(losses, *np.quantile(losses[rows], (0.01, 0.99))))


def nearest(vectors: npt.NDArray[np.float32], row: int, count: int) -> tuple[Ints, Floats]:
    """Return the rows that lie nearest to one, and their Euclidean distances: all are measured."""
    distances = np.sqrt(((vectors.astype(np.float64) - vectors[row].astype(np.float64)) ** 2).sum(axis=1))
    distances[row] = np.inf
    order = np.argsort(distances, kind="stable")[:count]
    return np.asarray(order), np.asarray(distances[order])


def percent(share: float) -> str:
    """Return a share as sentences have it: one decimal below 10 %, never 0 % or 100 % of what is not quite that.

    >>> percent(0.0812), percent(0.5), percent(0.0001), percent(0.9999)
    ('8.1 %', '50 %', 'under 0.1 %', 'over 99 %')
    """
    number = 100 * share
    if 0 < number < 0.05:
        return "under 0.1 %"
    if 99.5 <= number < 100:
        return "over 99 %"
    return f"{number:.1f} %" if 0 < number < 9.95 else f"{number:.0f} %"
