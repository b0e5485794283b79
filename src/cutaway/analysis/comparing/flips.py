"""The samples that flipped, or without classes those whose loss changed most, as a ranked table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.analysis.comparing.joining import Joined, texts
from cutaway.analysis.comparing.outcomes import Outcomes
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import Float64Array, IndexArray

__all__ = ["flip_table", "loss_change_table"]


# Without flips every sample changes a little; so many that got worst and best are listed.
MOST_CHANGED = 1_000


def flip_table(
    second: Samples, joined: Joined, outcomes: Outcomes, places: Float64Array | None, names: tuple[str, str]
) -> Ranked:
    """Return each sample that was right in one and wrong in the other, the worst first."""
    worse = outcomes.worse
    rows = np.flatnonzero(worse | outcomes.better)
    sign = np.where(worse[rows], 1.0, -1.0)
    # A flip of one kind is worse than any of the other; without probabilities that is all that is known.
    score = np.where(np.isfinite(outcomes.chance[rows]), outcomes.chance[rows], sign)
    score = np.where(sign > 0, np.maximum(score, 0), np.minimum(score, 0))
    order = np.lexsort((-score, -sign))
    rows, score, sign = rows[order], score[order], sign[order]
    before, after = (side[rows] for side in outcomes.predictions)
    labels = outcomes.labels[rows]
    reasons = [
        f"{names[0]} {was!r}, {names[1]} {now!r}: {'right before' if one > 0 else 'right now'}, the label is {label!r}"
        for was, now, label, one in zip(before, after, labels, sign, strict=True)
    ]
    evidence = {
        "flip": pa.array(["worse" if one > 0 else "better" for one in sign], pa.string()),
        "before": pa.array(before, pa.string()),
        "after": pa.array(after, pa.string()),
        LABEL: pa.array(labels, pa.string()),
    }
    words = (f"{int(worse.sum()):,} samples got worse, {int(outcomes.better.sum()):,} better",)
    table = _ranked(second, joined, outcomes, (rows, score, reasons), evidence)
    return Ranked(_placed(table, places, rows), words)


def loss_change_table(second: Samples, joined: Joined, outcomes: Outcomes, places: Float64Array | None) -> Ranked:
    """Return the samples whose loss grew or fell most, the worst first."""
    changes = outcomes.changes
    order = np.flatnonzero(np.isfinite(changes) & (changes != 0))
    order = order[np.argsort(-changes[order], kind="stable")]
    listed = order if len(order) <= 2 * MOST_CHANGED else np.concatenate([order[:MOST_CHANGED], order[-MOST_CHANGED:]])
    before, after = (side[listed] for side in outcomes.losses)
    reasons = [f"loss {was:.4g} before, {now:.4g} now" for was, now in zip(before, after, strict=True)]
    evidence = {"before": pa.array(before), "after": pa.array(after)}
    notes = (f"{len(listed):,} of {len(order):,} changed samples are listed.",) if len(listed) < len(order) else ()
    table = _ranked(second, joined, outcomes, (listed, changes[listed], reasons), evidence)
    return Ranked(_placed(table, places, listed), (f"the loss of {len(order):,} samples changed",), notes)


def _ranked(
    second: Samples,
    joined: Joined,
    outcomes: Outcomes,
    ranked: tuple[IndexArray, Float64Array, list[str]],
    evidence: dict[str, pa.Array],
) -> pa.Table:
    rows, score, reasons = ranked
    there = joined.second[rows]
    changes = outcomes.changes[rows]
    columns = {
        "sample": pa.array([second.ids[row] for row in there.tolist()], pa.string()),
        "score": pa.array(score, pa.float64()),
        "reason": pa.array(reasons, pa.string()),
        **evidence,
        "loss_change": pa.array(changes, pa.float64(), mask=~np.isfinite(changes)),
        SUBSET: pa.array(texts(second, SUBSET, there), pa.string()),
    }
    return pa.table(columns)


def _placed(table: pa.Table, places: Float64Array | None, rows: IndexArray) -> pa.Table:
    if places is None:
        return table
    return table.append_column("x", pa.array(places[rows, 0])).append_column("y", pa.array(places[rows, 1]))
