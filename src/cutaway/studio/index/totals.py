"""The numbers of a run's scalars: first, last, least and largest of each name and mode. Works on tables in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["SeriesTotals", "series_totals"]


class SeriesTotals(NamedTuple):
    """One scalar of one mode. `min` and `max` are over its finite values; None where it has none."""

    count: int
    nonfinite: int
    first: float
    last: float
    last_step: int
    min: float | None
    max: float | None


def series_totals(table: pa.Table) -> dict[tuple[str, str], SeriesTotals]:
    """Return the totals of every name and mode of a table of scalars."""
    if not len(table):
        return {}
    names, modes = (pc.dictionary_encode(table[column]).combine_chunks() for column in ("name", "mode"))
    width = len(modes.dictionary)
    codes = names.indices.to_numpy().astype(np.int64) * width + modes.indices.to_numpy()
    steps = table["step"].to_numpy()
    order = np.lexsort((steps, codes))  # stable: of one step the row that was written last comes last
    codes, steps = codes[order], steps[order]
    values = table["value"].to_numpy().astype(np.float64)[order]
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    ends = np.r_[starts[1:], len(codes)]
    finite = np.isfinite(values)
    least = np.minimum.reduceat(np.where(finite, values, np.inf), starts)
    largest = np.maximum.reduceat(np.where(finite, values, -np.inf), starts)
    known = np.add.reduceat(finite.astype(np.int64), starts)
    named, moded = names.dictionary.to_pylist(), modes.dictionary.to_pylist()
    return {
        (named[codes[start] // width], moded[codes[start] % width]): SeriesTotals(
            count=int(end - start),
            nonfinite=int(end - start - known[i]),
            first=float(values[start]),
            last=float(values[end - 1]),
            last_step=int(steps[end - 1]),
            min=float(least[i]) if known[i] else None,
            max=float(largest[i]) if known[i] else None,
        )
        for i, (start, end) in enumerate(zip(starts, ends, strict=True))
    }
