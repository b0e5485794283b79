"""The units behind a sample's answer, from its values alone or with the gradient of a score. Computes none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from cutaway.analysis.samples import Samples
from cutaway.analysis.units.table import left_out_rows, refuse_nothing, unit_blocks
from cutaway.arrays import Array, Float64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["SampleUnits", "units_of_sample"]

ANALYSIS = "view of a sample's units"


@dataclass(frozen=True)
class SampleUnits:
    """The units that stand out for one sample, largest first, up to so many on each side.

    By `deviation`, `side` is `above` or `below`: `z` says how many standard deviations the sample's `value` lies from
    the `mean` of the population. That says what is unusual about the sample, not what the model made of it.
    By `contribution`, `side` is `for` or `against` the score whose `gradient` was given: `contribution` is gradient
    times value, and `share` its part of the absolute contributions of all units. `supporting` and `opposing` are the
    sums of the two sides over all units. Where the rest of the model is linear, as behind the input of a
    classification head, both together are the score without its bias; elsewhere a first-order estimate.
    """

    sample: str
    method: Literal["deviation", "contribution"]
    table: pa.Table
    supporting: float | None
    opposing: float | None
    notes: tuple[str, ...]

    def words(self) -> str:
        """Say which units stand out most, and on which side."""
        first = self.table.slice(0, 3).to_pylist()
        listed = ", ".join(f"unit {one['unit']} {one['side']}" for one in first) or "no unit stands out"
        if self.method == "deviation":
            return f"most unusual: {listed}"
        return f"behind the score: {listed}; {self.supporting:.4g} for it and {self.opposing:.4g} against it in all"


def units_of_sample(samples: Samples, row: int, *, top: int = 10, gradient: Array | None = None) -> SampleUnits:
    """Return the units that stand out for the sample in a row.

    Without `gradient` they are those whose value is most unusual in the population. With the gradient of a score by
    the sample's latent vector, one number a unit, they are those that speak most for and against that score. For a
    layer that was pooled to its mean over positions, that is the sum of the gradient over the positions.
    """
    if top < 1:
        raise ConfigurationError(f"`top >= 1` must hold, but got top={top}.")
    if not -len(samples) <= row < len(samples):
        raise ConfigurationError(f"`row` must be one of {len(samples):,} samples, but got row={row}.")
    refuse_nothing(samples, ANALYSIS)
    name = samples.ids[row]
    if not samples.finite[row]:
        raise AnalysisUnavailable(ANALYSIS, f"sample {name!r} has no finite latent vector.")
    value = samples.latents[row].astype(np.float64)
    means, spreads = _population(samples)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(spreads > 0, (value - means) / spreads, np.nan)
    columns = {"value": value, "mean": means, "std": spreads, "z": z}
    notes = left_out_rows(samples)
    if gradient is None:
        table = _table(z, ("above", "below"), columns, top)
        if not table.num_rows:
            notes += ("Every unit has the value that it has on average: none stands out.",)
        return SampleUnits(name, "deviation", table, None, None, notes)
    slope = _gradient(gradient, len(value))
    parts = slope * value
    whole = float(np.abs(parts).sum())
    if not whole:
        raise AnalysisUnavailable(
            ANALYSIS, f"the gradient at sample {name!r} is 0 wherever a unit is not: no unit moves this score."
        )
    columns |= {"gradient": slope, "contribution": parts, "share": np.abs(parts) / whole}
    supporting, opposing = (float(parts[side].sum()) for side in (parts > 0, parts < 0))
    table = _table(parts, ("for", "against"), columns, top)
    return SampleUnits(name, "contribution", table, supporting, opposing, notes)


def _gradient(given: Array, units: int) -> Float64Array:
    slope = np.asarray(given)
    if slope.shape != (units,) or slope.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`gradient` must be one number for each of {units:,} units, but got {slope.dtype} of shape {slope.shape}."
        )
    if not np.isfinite(slope).all():
        raise ConfigurationError(f"`gradient` holds {int((~np.isfinite(slope)).sum()):,} numbers that are not finite.")
    return slope.astype(np.float64)


def _population(samples: Samples) -> tuple[Float64Array, Float64Array]:
    means, spreads = np.zeros((2, samples.latents.shape[1]))
    for first, block in unit_blocks(samples):
        own = slice(first, first + len(block))
        means[own] = block.mean(axis=1, dtype=np.float64)
        constant = block.min(axis=1) == block.max(axis=1)
        # The mean of equal numbers may miss them by a hair, and any value would then seem far away.
        spreads[own] = np.where(constant, 0.0, block.std(axis=1, dtype=np.float64))
    return means, spreads


def _table(size: Float64Array, sides: tuple[str, str], columns: dict[str, Float64Array], top: int) -> pa.Table:
    """Return the units that are largest on each side, both together by size."""
    order = np.argsort(-np.abs(np.nan_to_num(size)), kind="stable")
    chosen = np.concatenate([order[size[order] > 0][:top], order[size[order] < 0][:top]])
    chosen = chosen[np.argsort(-np.abs(size[chosen]), kind="stable")]
    named = [sides[0] if size[one] > 0 else sides[1] for one in chosen]
    numbers = {name: pa.array(values[chosen], mask=np.isnan(values[chosen])) for name, values in columns.items()}
    return pa.table({"unit": pa.array(chosen, pa.int64()), "side": pa.array(named, pa.string()), **numbers})
