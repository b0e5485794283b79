"""A batch of samples: what was encoded and what failed on its way into the model, what was found out about it, and the
rows of the evaluation's table that this makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, BoolArray, Float32Array, IndexArray
from cutaway.dataset.subset import Scalar
from cutaway.run.evaluations import space_file_name
from cutaway.run.sample_columns import (
    COUNT,
    PREVIEW,
    SPACE,
    columns_of,
    list_column,
    tensor_field,
    value_column,
    vector_column,
)

__all__ = ["BatchResults", "Prepared", "make_rows", "rows_not_finite"]


@dataclass
class Prepared:
    """The samples `start` to `stop` of a subset.

    `inputs` and `truths` have a row for each sample that could be encoded, in their order: those where `errors` has
    None, and those of which only something beside them failed. `metadata` has None where it failed.
    """

    subset: str
    start: int
    stop: int
    ids: list[str]
    errors: list[str | None]
    encoded: BoolArray
    inputs: Mapping[str, Array] = field(default_factory=dict)
    truths: Mapping[str, Array] = field(default_factory=dict)
    metadata: list[dict[str, Scalar] | None] = field(default_factory=list)
    hashes: list[str | None] = field(default_factory=list)
    previews: list[bytes | None] | None = None
    not_finite: int = 0

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def positions(self) -> IndexArray:
        """The positions in the batch of the rows of `inputs` and `truths`."""
        return np.flatnonzero(self.encoded)

    def fail(self, i: int, error: str) -> None:
        """Note why the i-th sample of the batch is not whole; the first reason stays."""
        if self.errors[i] is None:
            self.errors[i] = error


def rows_not_finite(arrays: Iterable[Array], count: int) -> BoolArray:
    """Return which of `count` rows hold NaN or infinity in any array; numbers that are no floats hold neither."""
    rows = np.zeros(count, np.bool_)
    for values in arrays:
        # One quick sum that only a bad value, or an overflow, keeps from being finite; then the slow look at each.
        with np.errstate(all="ignore"):
            if values.dtype.kind != "f" or np.isfinite(values.sum()):
                continue
        rows |= ~np.isfinite(values.reshape(count, -1)).all(axis=1)
    return rows


@dataclass
class BatchResults:
    """What an evaluation found out about a batch; every array has a row for each sample at `places` in the batch."""

    places: IndexArray
    outputs: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    spaces: Mapping[str, Float32Array] = field(default_factory=dict)
    not_finite: int = 0


def make_rows(batch: Prepared, found: BatchResults) -> pa.RecordBatch:
    """Return one row for each sample of a batch, also for those that failed."""
    size = len(batch)
    fields = [pa.field("id", pa.string()), pa.field("hash", pa.string()), pa.field("index", pa.int64())]
    arrays = [
        pa.array(batch.ids, pa.string()),
        pa.array(batch.hashes, pa.string()),
        pa.array(np.arange(batch.start, batch.stop)),
    ]

    def add(name: str, column: pa.Array, given: pa.Field | None = None) -> None:
        fields.append(given or pa.field(name, column.type))
        arrays.append(column)

    add("error", pa.array(batch.errors, pa.string()))
    for name, values in columns_of(batch.metadata).items():
        add(f"metadata.{name}", value_column(values))
    for kind, places, named in (
        ("ground_truth", batch.positions, batch.truths),
        ("prediction", found.places, found.outputs),
    ):
        for name, rows in named.items():
            column = list_column(*_spread(rows, places, size))
            add("", column, tensor_field(f"{kind}.{name}", column, rows.shape[1:]))
    for name, values in found.columns.items():
        add(name, _spread_values(values, found.places, size))
    for name, vectors in found.spaces.items():
        add(f"{SPACE}{space_file_name(name)}", vector_column(_spread_vectors(vectors, found.places, size)))
    if batch.previews is not None:
        add(PREVIEW, pa.array(batch.previews, pa.binary()))
    # Counted in the first row of the batch, so that the counts survive a kill as the rows do.
    add(f"{COUNT}inputs", pa.array([batch.not_finite, *[0] * (size - 1)], pa.int32()))
    add(f"{COUNT}predictions", pa.array([found.not_finite, *[0] * (size - 1)], pa.int32()))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _spread(rows: Array, places: IndexArray, size: int) -> tuple[Array, BoolArray]:
    if len(rows) == size:
        return rows, np.ones(size, np.bool_)
    valid = np.zeros(size, np.bool_)
    valid[places] = True
    whole = np.zeros((size, *rows.shape[1:]), rows.dtype)
    whole[places] = rows
    return whole, valid


def _spread_values(values: Any, places: IndexArray, size: int) -> pa.Array:
    if len(values) == size:
        return value_column(values)
    if isinstance(values, np.ndarray):
        whole, valid = _spread(values, places, size)
        return pa.array(whole, mask=~valid)
    spread: list[Any] = [None] * size
    for place, value in zip(places.tolist(), values, strict=True):
        spread[place] = value
    return value_column(spread)


def _spread_vectors(vectors: Float32Array, places: IndexArray, size: int) -> Float32Array:
    if len(vectors) == size:
        return vectors
    whole = np.full((size, vectors.shape[1]), np.nan, np.float32)
    whole[places] = vectors
    return whole
