"""The chosen samples as a table and in words. Chooses nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.labelling.pool import Pool
from cutaway.analysis.samples import PREDICTION, SUBSET, Samples
from cutaway.arrays import Float32Array, Float64Array, IndexArray, Int64Array

__all__ = ["Chosen", "chosen_table", "chosen_words"]


@dataclass(frozen=True)
class Chosen:
    """Candidates in the order of choice, what each was worth, how far it lay from all before it, and from which.

    `nearest` counts the labelled samples first, then the candidates; -1 where there was nothing before.
    """

    places: Int64Array
    values: Float64Array
    distances: Float64Array
    nearest: Int64Array


def chosen_table(samples: Samples, pool: Pool, chosen: Chosen, doubts: Float32Array | None) -> pa.Table:
    """Return the chosen samples with their evidence; `doubts` is the uncertainty of each candidate."""
    rows = pool.candidates[chosen.places]
    ids, covering = samples.ids, np.concatenate([pool.labelled, pool.candidates])
    nearest = [None if one < 0 else ids[covering[one]] for one in chosen.nearest.tolist()]
    reasons = [
        "; ".join(part for part in (between, _apart(distance, other)) if part)
        for between, distance, other in zip(_between(samples, rows), chosen.distances.tolist(), nearest, strict=True)
    ]
    far = np.isfinite(chosen.distances)
    unsure = pa.nulls(len(rows), pa.float64()) if doubts is None else pa.array(doubts[chosen.places], pa.float64())
    return pa.table(
        {
            "sample": pa.array([ids[row] for row in rows.tolist()], pa.string()),
            "score": pa.array(chosen.values, pa.float64()),
            "reason": pa.array(reasons, pa.string()),
            "rank": pa.array(range(1, len(rows) + 1), pa.int64()),
            "uncertainty": unsure,
            "distance": pa.array(chosen.distances, pa.float64(), mask=~far),
            "nearest": pa.array(nearest, pa.string()),
            PREDICTION: _predictions(samples, rows),
            SUBSET: samples.table[SUBSET].take(pa.array(rows)).cast(pa.string()),
        }
    )


def chosen_words(table: pa.Table, candidates: int, method: str) -> tuple[str, ...]:
    """Say how many were chosen by what, and which classes they are taken for."""
    count = table.num_rows
    said = [f"label {count:,} of {candidates:,} unlabelled samples next, chosen by {method}, the first before the last"]
    taken = Counter(one for one in table[PREDICTION].to_pylist() if one is not None)
    if taken:
        more = f" and {len(taken) - 5:,} more classes" if len(taken) > 5 else ""
        most = ", ".join(f"{name!r} ({n:,})" for name, n in taken.most_common(5))
        said.append(f"the model takes them for {most}{more}")
    return tuple(said)


def _predictions(samples: Samples, rows: IndexArray) -> pa.Array:
    if PREDICTION in samples.table.column_names:
        return samples.table[PREDICTION].take(pa.array(rows)).cast(pa.string()).combine_chunks()
    return pa.nulls(len(rows), pa.string())


def _between(samples: Samples, rows: IndexArray) -> list[str]:
    """Name the two likeliest classes of each row."""
    if samples.probabilities is None or samples.probabilities.shape[1] < 2:
        return [""] * len(rows)
    chances = samples.probabilities[rows]
    top = np.argsort(-chances, axis=1, kind="stable")[:, :2]
    names = samples.classes
    return [
        f"{names[a]!r} ({chance[a]:.2f}) or {names[b]!r} ({chance[b]:.2f})" if np.isfinite(chance).all() else ""
        for (a, b), chance in zip(top.tolist(), chances, strict=True)
    ]


def _apart(distance: float, other: str | None) -> str:
    if other is None:
        return "in the middle of all samples"
    return f"{distance:.3g} away from the nearest labelled or chosen sample, {other}"
