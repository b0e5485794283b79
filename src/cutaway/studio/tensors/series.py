"""Statistics of tensors over the steps, and values that were saved in full, as Arrow tables."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.arrays import Float32Array
from cutaway.errors import ConfigurationError, TensorUnavailable, TensorUnavailableForStep
from cutaway.studio.tensors.histograms import count_values
from cutaway.studio.wire.life import Histogram
from cutaway.trial.model_tensors import ModelTensors
from cutaway.trial.tensor import Tensor
from cutaway.trial.trial import Trial

__all__ = ["histogram_of", "overview_table", "series_table", "values_table"]


def series_table(trial: Trial, name: str, *, first: int | None, last: int | None, points: int) -> pa.Table:
    """Return the statistics of a tensor by stretches of steps: of each its last step, the last value, the extremes.

    `zeros` is the share of zeros. The metadata says in words how exact it is.
    """
    found = trial.overviews.series(name, first=first, last=last, columns=points)
    size = next((one.size for one in trial.overviews.tensors() if one.name == name), 0)
    columns = {"step": pa.array(found.ends)}
    for statistic, grid in found.statistics.items():
        if statistic == "nonfinite":
            columns[statistic] = pa.array(grid.greatest, from_pandas=True)
            continue
        share = 1 / size if statistic == "zeros" and size else 1
        columns[statistic] = pa.array(grid.last * share, from_pandas=True)
        columns[f"{statistic}_min"] = pa.array(grid.least * share, from_pandas=True)
        columns[f"{statistic}_max"] = pa.array(grid.greatest * share, from_pandas=True)
    return pa.table(columns).replace_schema_metadata(_about(found.approximate, exact=found.exact))


def _about(approximate: str, *, exact: bool) -> dict[str, str]:
    return {"approximate": approximate, "exact": json.dumps(exact)}


def histogram_of(trial: Trial, name: str, step: int, bins: int) -> Histogram:
    """Count the values of a tensor at a step that saved it in full; all of them, however many."""
    tensor = _saved(trial, name, step)
    value = _real(tensor.value(step), name)
    found = count_values(value, bins)
    return Histogram(step=step, shape=list(value.shape), dtype=tensor.dtype(step), size=int(value.size), **vars(found))


def values_table(trial: Trial, name: str, step: int, *, offset: int, limit: int) -> pa.Table:
    """Return some values of a tensor in row-major order."""
    tensor = _saved(trial, name, step)
    value = _real(tensor.value(step), name)
    part = np.ascontiguousarray(value.reshape(-1)[offset : offset + limit])
    if part.dtype == np.float16:
        # What reads this in a browser has no halves.
        part = part.astype(np.float32)
    about = {"shape": json.dumps(list(value.shape)), "dtype": tensor.dtype(step), "size": json.dumps(int(value.size))}
    return pa.table({"value": pa.array(part)}).replace_schema_metadata(about)


def _saved(trial: Trial, name: str, step: int) -> Tensor:
    """Return a tensor that was saved at a step. Says why not without reading every row of its statistics."""
    tensors = ModelTensors(trial)
    if name not in tensors.states and name not in tensors.saved:
        raise TensorUnavailable(name, trial.name, tensors.names)
    if step not in tensors.saved_steps(name):
        raise TensorUnavailableForStep(name, step)
    return trial.tensor(name)


def _real(value: npt.NDArray[np.generic], name: str) -> npt.NDArray[np.generic]:
    if value.dtype.kind == "c":
        raise ConfigurationError(
            f"The values of tensor {name!r} are complex numbers, which have no order.",
            hint="`trial.tensor(name).value(step)` returns them.",
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
    """Return one statistic of every tensor by stretches of steps, a row a tensor in the order of the model.

    `zeros` is the share of zeros. The metadata has the bounds of the stretches, and says in words how exact they are.
    """
    tensors = ModelTensors(trial)
    wanted = frozenset(tensors.matching(collection, search))
    found = trial.overviews.read(
        statistic=statistic, tensors=wanted.__contains__, first=first, last=last, columns=columns
    )
    parts = {"last": found.last, "min": found.min, "max": found.max}
    if statistic == "zeros":
        sizes = np.array([tensors.states[name].size for name in found.tensors], np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = {name: matrix / sizes[:, None] for name, matrix in parts.items()}
    table = {
        "tensor": pa.array(found.tensors, pa.string()),
        "layer": pa.array([tensors.layer(name) for name in found.tensors], pa.string()),
        **{name: _lists(matrix) for name, matrix in {**parts, "nonfinite": found.nonfinite}.items()},
    }
    about = {"steps": json.dumps(found.steps.tolist()), **_about(found.approximate, exact=found.exact)}
    return pa.table(table).replace_schema_metadata(about)


def _lists(matrix: Float32Array) -> pa.ListArray:
    rows, count = matrix.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * count
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(matrix.reshape(-1), pa.float32()))
