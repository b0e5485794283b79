"""Statistics of tensors over the steps, and values that were saved in full, as Arrow tables."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.errors import ConfigurationError
from cutaway.run.schemas import STATISTIC_COLUMNS
from cutaway.studio.histograms import count_values
from cutaway.studio.tensor_rows import ModelTensors
from cutaway.studio.thinning import thin
from cutaway.studio.wire import Histogram
from cutaway.trial.trial import Trial

__all__ = ["histogram_of", "overview_table", "series_table", "values_table"]

EVERYTHING = 2**62

Floats = npt.NDArray[np.float32]


def series_table(trial: Trial, name: str, *, first: int | None, last: int | None, points: int) -> pa.Table:
    """Return the statistics of a tensor, thinned: of each stretch the last step, the last value and the extremes.

    `zeros` is the share of zeros. The metadata says how many steps there were before thinning.
    """
    window = trial.statistics_window(name, first or 0, EVERYTHING if last is None else last + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        window["zeros"] = window["zeros"] / window["size"]
    places = thin(window["step"], points).places
    columns = {"step": pa.array(window["step"][places])}
    for statistic in STATISTIC_COLUMNS:
        short = thin(window[statistic], points)
        if statistic == "nonfinite":
            columns[statistic] = pa.array(short.max)
            continue
        columns[statistic] = pa.array(short.value, from_pandas=True)
        columns[f"{statistic}_min"] = pa.array(short.min, from_pandas=True)
        columns[f"{statistic}_max"] = pa.array(short.max, from_pandas=True)
    return pa.table(columns).replace_schema_metadata({"points": json.dumps(len(window["step"]))})


def histogram_of(trial: Trial, name: str, step: int, bins: int) -> Histogram:
    """Count the values of a tensor at a step that saved it in full; all of them, however many."""
    tensor = trial.tensor(name)
    value = _real(tensor.value(step), name)
    found = count_values(value, bins)
    return Histogram(step=step, shape=list(value.shape), dtype=tensor.dtype(step), size=int(value.size), **vars(found))


def values_table(trial: Trial, name: str, step: int, *, offset: int, limit: int) -> pa.Table:
    """Return some values of a tensor in row-major order."""
    tensor = trial.tensor(name)
    value = _real(tensor.value(step), name)
    part = np.ascontiguousarray(value.reshape(-1)[offset : offset + limit])
    if part.dtype == np.float16:
        # What reads this in a browser has no halves.
        part = part.astype(np.float32)
    about = {"shape": json.dumps(list(value.shape)), "dtype": tensor.dtype(step), "size": json.dumps(int(value.size))}
    return pa.table({"value": pa.array(part)}).replace_schema_metadata(about)


def _real(value: npt.NDArray[np.generic], name: str) -> npt.NDArray[np.generic]:
    if value.dtype.kind == "c":
        raise ConfigurationError(
            f"The values of tensor {name!r} are complex numbers, which have no order. "
            "`trial.tensor(name).value(step)` returns them."
        )
    return value


def overview_table(
    trial: Trial,
    *,
    statistic: str,
    collection: str,
    search: str,
    first: int | None,
    last: int | None,
    columns: int,
) -> pa.Table:
    """Return one statistic of every tensor by stretches of steps, a row a tensor in the order of the model."""
    tensors = ModelTensors(trial)
    names = tensors.matching(collection, search)
    start, stop = first or 0, EVERYTHING if last is None else last + 1
    blocks = trial.statistics_blocks(names, start, stop)
    steps = np.unique(np.concatenate([block.steps for block in blocks])) if blocks else np.empty(0, np.int64)
    count = min(columns, len(steps))
    starts = (np.arange(count, dtype=np.int64) * len(steps)) // max(count, 1)
    rows: dict[str, tuple[Floats, Floats, Floats, Floats]] = {}
    for block in blocks:
        own = np.searchsorted(steps[starts], block.steps, side="right") - 1
        edges = np.flatnonzero(np.concatenate(([True], own[1:] != own[:-1])))
        ends = np.append(edges[1:], len(own)) - 1
        values = block.zero_share if statistic == "zeros" else block[statistic]
        good = np.isfinite(values)
        low = np.minimum.reduceat(np.where(good, values, np.inf), edges, axis=1)
        high = np.maximum.reduceat(np.where(good, values, -np.inf), edges, axis=1)
        bad = np.maximum.reduceat(block["nonfinite"], edges, axis=1)
        for place, name in enumerate(block.names):
            made = [np.full(count, np.nan, np.float32) for _ in range(4)]
            kept = (values[place, ends], low[place], high[place], bad[place])
            for matrix, numbers in zip(made, kept, strict=True):
                matrix[own[edges]] = np.where(np.isfinite(numbers), numbers, np.nan)
            rows[name] = made[0], made[1], made[2], made[3]
    shown = [name for name in names if name in rows]
    bounds = [*steps[starts].tolist(), *([int(steps[-1]) + 1] if len(steps) else [])]
    table = {"tensor": pa.array(shown, pa.string()), "layer": pa.array(map(tensors.layer, shown), pa.string())}
    for i, column in enumerate(("last", "min", "max", "nonfinite")):
        flat = np.concatenate([rows[name][i] for name in shown]) if shown else np.empty(0, np.float32)
        offsets = np.arange(len(shown) + 1, dtype=np.int32) * count
        table[column] = pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat, pa.float32()))
    return pa.table(table).replace_schema_metadata({"steps": json.dumps(bounds)})
