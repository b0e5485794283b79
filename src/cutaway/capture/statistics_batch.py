"""Statistics of a few steps as one batch of rows, built with few calls: it happens beside every training step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, Float64Array, Int64Array
from cutaway.run.schemas import SCHEMAS, STATISTICS
from cutaway.tensors.statistic_names import COUNTS, FLOATS

__all__ = ["Matrices", "Part", "of_one_number", "side_by_side", "statistics_batch"]

_COUNTS = ("size", *COUNTS)
_ACTIVE = pa.list_(pa.float32())


class Part(NamedTuple):
    """Statistics of some tensors of one step: a name, one entry of every column, and the channels' activity each."""

    step: int
    names: pa.Array
    columns: Mapping[str, Array]
    active: Sequence[list[float] | None] | None = None


class Matrices(NamedTuple):
    """Statistics of several parts side by side: a row per statistic, a column per tensor and step."""

    whole: Int64Array  # step, size, nonfinite, zeros
    floats: Float64Array


def of_one_number(value: float) -> dict[str, float]:
    """Return the statistics of a tensor of one number, such as a loss."""
    if not math.isfinite(value):
        empty = dict.fromkeys(("min", "max", "mean", "std", "abs_min"), math.nan)
        return {"size": 1, "nonfinite": 1, "zeros": 0, **empty, "l1": 0.0, "l2": 0.0}
    same = {"min": value, "max": value, "mean": value, "std": 0.0}
    size = abs(value)
    return {"size": 1, "nonfinite": 0, "zeros": int(value == 0), **same, "l1": size, "l2": size, "abs_min": size}


def side_by_side(parts: Sequence[Part]) -> Matrices:
    """Return the numbers of one or several steps: the tensors of each part in turn."""
    count = sum(len(part.names) for part in parts)
    whole, floats = np.empty((1 + len(_COUNTS), count), np.int64), np.empty((len(FLOATS), count))
    start = 0
    for part in parts:
        stop = start + len(part.names)
        whole[0, start:stop] = part.step
        for row, name in enumerate(_COUNTS, 1):
            whole[row, start:stop] = part.columns[name]
        for row, name in enumerate(FLOATS):
            floats[row, start:stop] = part.columns[name]
        start = stop
    return Matrices(whole, floats)


def statistics_batch(parts: Sequence[Part], matrices: Matrices | None = None) -> pa.RecordBatch:
    """Return the rows of one or several steps, from their numbers where these have been put side by side already."""
    names = parts[0].names if len(parts) == 1 else pa.concat_arrays([part.names for part in parts])
    whole, floats = side_by_side(parts) if matrices is None else matrices
    steps, *counts = _columns(whole, pa.int64())
    numbers = _columns(floats, pa.float64(), null_where_nan=len(FLOATS) - 1)
    return pa.RecordBatch.from_arrays([steps, names, *counts, *numbers, _active(parts)], schema=SCHEMAS[STATISTICS])


def _active(parts: Sequence[Part]) -> pa.Array:
    if all(part.active is None for part in parts):
        return pa.nulls(sum(len(part.names) for part in parts), _ACTIVE)
    return pa.array([one for part in parts for one in part.active or [None] * len(part.names)], _ACTIVE)


def _columns(matrix: Array, kind: pa.DataType, null_where_nan: int | None = None) -> list[pa.Array]:
    """Return the rows of a matrix as columns without a copy; one of them may have no value where it is NaN."""
    count = matrix.shape[1]
    buffer = pa.py_buffer(matrix)
    nulls: list[pa.Buffer | None] = [None] * len(matrix)
    if null_where_nan is not None:
        nulls[null_where_nan] = pa.py_buffer(np.packbits(~np.isnan(matrix[null_where_nan]), bitorder="little"))
    return [
        pa.Array.from_buffers(kind, count, [nulls[row], buffer.slice(row * count * 8, count * 8)])
        for row in range(len(matrix))
    ]
