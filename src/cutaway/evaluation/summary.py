"""What an evaluation came to: counts, means of losses and metrics, failures. Reads a table piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutaway.run.evaluations import Evaluation

__all__ = ["summarize"]


def summarize(evaluation: Evaluation, subset: str) -> dict[str, Any]:
    """Return how many samples of a subset there are and failed, and the mean of each loss and metric over the rest.

    Means are over the samples whose value is finite; how many are not stands beside.
    """
    sums: dict[str, list[float]] = {}
    samples = failed = 0
    for piece in evaluation.pieces(subset, ("error", "loss", "metric")):
        samples += len(piece)
        failed += len(piece) - piece.column("error").null_count
        for name in piece.column_names:
            column = piece.column(name)
            if name == "error" or not _is_number(column.type):
                continue
            values = column.drop_null().to_numpy(zero_copy_only=False).astype(np.float64)
            finite = values[np.isfinite(values)]
            total = sums.setdefault(name, [0.0, 0, 0])
            total[0] += float(finite.sum())
            total[1] += len(finite)
            total[2] += len(values) - len(finite)
    means = {name: total / count if count else None for name, (total, count, _) in sums.items()}
    not_finite = {name: int(bad) for name, (_, _, bad) in sums.items() if bad}
    return {"samples": samples, "failed": failed, "means": means, "not_finite": not_finite}


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
