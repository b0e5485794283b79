"""What a mean would be with another mix of a column's values (post-stratification). Extrapolates nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.statistics.intervals import Z95
from cutaway.arrays import BoolArray, Float64Array

__all__ = ["Mixed", "as_if_mixed"]

PARTS = 10
# A part of the other mix in which there are fewer judged samples cannot be weighted up.
FEWEST = 5


@dataclass(frozen=True)
class Mixed:
    """A mean as it is, and as it would be with the other mix, with a 95 % interval."""

    before: float
    after: float
    low: float
    high: float


def as_if_mixed(column: Described, outcome: Float64Array, inside: BoolArray, mix: BoolArray) -> Mixed | None:
    """Return the mean of `outcome` over `inside` weighted to the mix of a column's values in `mix`.

    None where a tenth or more of the mix has next to no samples inside: nothing is known of those.
    """
    parts = _parts(column, mix)
    count = int(parts.max(initial=0)) + 1
    own = np.bincount(parts[inside & (parts >= 0)], minlength=count)
    wanted = np.bincount(parts[mix & (parts >= 0)], minlength=count).astype(np.float64)
    covered = own >= FEWEST
    if not wanted.sum() or wanted[covered].sum() < 0.9 * wanted.sum():
        return None
    weights = np.where(covered, wanted, 0.0) / wanted[covered].sum()
    used = inside & (parts >= 0)
    sums = np.bincount(parts[used], outcome[used], count)
    squares = np.bincount(parts[used], outcome[used] ** 2, count)
    safe = np.maximum(own, 1)
    means = sums / safe
    errors = np.maximum(squares / safe - means**2, 0.0) / safe
    after, error = float(weights @ means), float(np.sqrt(weights**2 @ errors))
    return Mixed(float(outcome[inside].mean()), after, max(0.0, after - Z95 * error), after + Z95 * error)


def _parts(column: Described, mix: BoolArray) -> np.ndarray:
    if column.numbers is None:
        return column.codes
    known = np.isfinite(column.numbers)
    if not (mix & known).any():
        return np.full(len(known), -1)
    cuts = np.unique(np.quantile(column.numbers[mix & known], np.linspace(0, 1, PARTS + 1)[1:-1]))
    return np.where(known, np.searchsorted(cuts, np.nan_to_num(column.numbers), "right"), -1)
