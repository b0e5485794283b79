"""How two models differ on all samples, and on each slice of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.comparing.comparison import Difference
from cutaway.analysis.comparing.outcomes import Outcomes
from cutaway.analysis.comparing.paired import adjusted, flips_test, paired_interval, signed_rank_test
from cutaway.analysis.comparing.slicing import Condition
from cutaway.analysis.statistics.intervals import mean_interval
from cutaway.arrays import BoolArray, Float64Array

__all__ = ["accuracy_difference", "loss_difference", "slice_table", "tested_table"]

LEVEL = 0.05
"""A slice is found where its adjusted p is at most this."""
# With fewer flips no split of them could be that odd. How many flips there are says nothing of their direction, so
# leaving such slices out biases no test, and asks fewer questions.
FEWEST_FLIPS = 6
FEWEST_LOSSES = 10
_TYPES = {
    "slice": pa.string(), "column": pa.string(), "count": pa.int64(), "share": pa.float64(), "worse": pa.int64(),
    "better": pa.int64(), "before": pa.float64(), "after": pa.float64(), "change": pa.float64(), "low": pa.float64(),
    "high": pa.float64(), "loss_change": pa.float64(), "p": pa.float64(),
}  # fmt: skip


def accuracy_difference(outcomes: Outcomes, rows: BoolArray) -> Difference | None:
    """Return the accuracy of both models on some rows; None where no row has an answer of each."""
    kept = rows & outcomes.answered
    count = int(kept.sum())
    if not count:
        return None
    before, after = (int((kept & side).sum()) for side in outcomes.right)
    worse, better = int((rows & outcomes.worse).sum()), int((rows & outcomes.better).sum())
    low, high = paired_interval(before - worse, worse, better, count - before - better)
    change = (better - worse) / count
    return Difference(before / count, after / count, change, float(low), float(high), float(flips_test(worse, better)))


def loss_difference(outcomes: Outcomes, rows: BoolArray) -> Difference | None:
    """Return the mean loss of both models on some rows; None where no row has a finite loss of each."""
    kept = rows & np.isfinite(outcomes.changes)
    count = int(kept.sum())
    if not count:
        return None
    changes = outcomes.changes[kept]
    before, after = (float(side[kept].mean()) for side in outcomes.losses)
    deviation = float(changes.std(ddof=1)) if count > 1 else np.nan
    change = float(changes.mean())
    low, high = mean_interval(np.array([change]), np.array([deviation]), np.array([count]))
    return Difference(before, after, change, float(low[0]), float(high[0]), signed_rank_test(changes))


def slice_table(outcomes: Outcomes, slices: Iterable[Condition], *, by_flips: bool) -> pa.Table:
    """Return a row for each slice that can tell something, the surest first; `by_flips`, else by loss."""
    rows = [row for one in slices if (row := _row(outcomes, one, by_flips=by_flips)) is not None]
    ps = adjusted(_weighed([row["p"] for row in rows], [row["column"] for row in rows]))
    table = tested_table(rows, ps, _TYPES)
    change = np.array([abs(row["change"]) for row in rows], np.float64)
    return table.take(pa.array(np.lexsort((-change, [row["p"] for row in rows])) if rows else np.zeros(0, np.int64)))


def tested_table(rows: Sequence[Mapping[str, Any]], ps: Float64Array, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return rows as a table, with their p adjusted for all of them, and whether that is at most `LEVEL`."""
    table = pa.Table.from_pylist(rows, schema=pa.schema(types))
    return table.append_column("p_adjusted", pa.array(ps, pa.float64())).append_column("found", pa.array(ps <= LEVEL))


def _weighed(ps: list[float], columns: list[str]) -> Float64Array:
    """Return p values so that each column counts as much: a column cut into many ranges costs the others nothing.

    They are divided by weights that are 1 on average, which keeps the share of false ones what it was.
    """
    slices = Counter(columns)
    cost = np.array([slices[one] * len(slices) / len(columns) for one in columns], np.float64)
    return np.asarray(np.array(ps, np.float64) * cost)


def _row(outcomes: Outcomes, one: Condition, *, by_flips: bool) -> dict[str, Any] | None:
    kept = one.rows & (outcomes.answered if by_flips else np.isfinite(outcomes.changes))
    worse, better = _flips(outcomes, kept)
    if (by_flips and worse + better < FEWEST_FLIPS) or int(kept.sum()) < FEWEST_LOSSES:
        return None
    found = accuracy_difference(outcomes, kept) if by_flips else loss_difference(outcomes, kept)
    if found is None:
        return None
    compared = outcomes.answered if by_flips else np.isfinite(outcomes.changes)
    losses = outcomes.changes[kept & np.isfinite(outcomes.changes)]
    return {
        "slice": one.text, "column": one.column, "count": int(kept.sum()), "share": float(kept.sum() / compared.sum()),
        "worse": worse if by_flips else None, "better": better if by_flips else None, "before": found.before,
        "after": found.after, "change": found.change, "low": found.low, "high": found.high,
        "loss_change": float(losses.mean()) if len(losses) else None, "p": found.p,
    }  # fmt: skip


def _flips(outcomes: Outcomes, kept: BoolArray) -> tuple[int, int]:
    return int((kept & outcomes.worse).sum()), int((kept & outcomes.better).sum())
