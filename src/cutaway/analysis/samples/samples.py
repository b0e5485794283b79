"""`Samples`: the rows that every analysis is about. Holds and checks them; computes nothing, reads no files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.analysis.samples.from_arrays import samples_of_arrays
from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, IndexArray
from cutaway.errors import ConfigurationError, refuse_unknown
from cutaway.run.evaluated.columns import SAMPLE

__all__ = ["Samples", "column_of", "doubles_of"]


# From so many samples the mean and the spread of each unit are estimated.
_SPREAD_ROWS = 50_000


@dataclass(frozen=True)
class Samples:
    """Samples in rows that belong together: a table, latent vectors, and probabilities where the model gives them.

    `table` always has `sample` (the id) and `subset`. It has `label`, `prediction` and `correct` where each sample has
    one class, and `loss` where one is known; a column that is not there is why an analysis does not apply. Other
    columns (`metadata.<name>`, `metric.<name>`, or a user's own) are described, filtered and drawn, never required.
    `classes` names the columns of `probabilities`, and the classes in their order. A row of `latents` that is not
    finite belongs to a sample that failed, or whose latent vector overflowed. `dynamics` is what the training saw of
    each sample, where a hook recorded it; `hashes` tell which samples have the same content.
    """

    table: pa.Table
    latents: Float32Array
    classes: tuple[str, ...] = ()
    probabilities: Float32Array | None = None
    dynamics: Dynamics | None = None
    hashes: tuple[str | None, ...] | None = None

    def __post_init__(self) -> None:
        rows = self.table.num_rows
        if self.latents.ndim != 2 or len(self.latents) != rows:
            raise ConfigurationError(
                f"`latents` must have one row for each of {rows} samples, but got shape {self.latents.shape}."
            )
        if self.probabilities is not None and self.probabilities.shape != (rows, len(self.classes)):
            raise ConfigurationError(
                f"`probabilities` must have one row for each of {rows} samples and one column for each of "
                f"{len(self.classes)} classes, but got shape {self.probabilities.shape}."
            )
        if self.dynamics is not None and len(self.dynamics) != rows:
            raise ConfigurationError(f"`dynamics` is about {len(self.dynamics)} samples, but there are {rows}.")
        if self.hashes is not None and len(self.hashes) != rows:
            raise ConfigurationError(f"`hashes` has {len(self.hashes)} values, but there are {rows} samples.")

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the samples, in the order of the rows."""
        return [str(one) for one in self.table[SAMPLE].to_pylist()]

    @cached_property
    def finite(self) -> BoolArray:
        """Which rows have a latent vector that can be used."""
        # In float64 no sum of finite float32 numbers overflows, and no mask as large as the latents is made.
        return np.asarray(np.isfinite(self.latents.sum(axis=1, dtype=np.float64)))

    @cached_property
    def unit_spread(self) -> tuple[Float64Array, Float64Array]:
        """Mean and standard deviation of each latent unit, over samples at even distances where there are very many."""
        some = self.latents[:: -(-len(self) // _SPREAD_ROWS)]
        some = some[np.isfinite(some).all(axis=1)]
        if not len(some):  # the few that are finite fell between those that were looked at
            some = self.latents[self.finite]
        return some.mean(axis=0, dtype=np.float64), some.std(axis=0, dtype=np.float64)

    def has(self, column: str) -> bool:
        """Whether there is such a column, with at least one value."""
        return column in self.table.column_names and self.table[column].null_count < len(self)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column. Raises with the nearest names where there is none."""
        return column_of(self.table, name)

    def numbers(self, name: str) -> Float64Array:
        """Return a column of numbers or of yes and no, NaN where there is no value."""
        column = self.column(name)
        if not (
            pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type)
        ):
            raise ConfigurationError(f"Column {name!r} holds {column.type}, but numbers are needed.")
        return doubles_of(column)

    def take(self, rows: IndexArray | BoolArray) -> Self:
        """Return some of the rows, by position or by mask."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return type(self)(
            self.table.take(pa.array(chosen)),
            self.latents[chosen],
            self.classes,
            None if self.probabilities is None else self.probabilities[chosen],
            None if self.dynamics is None else self.dynamics.take(chosen),
            None if self.hashes is None else tuple(self.hashes[row] for row in chosen.tolist()),
        )

    @classmethod
    def from_arrays(
        cls,
        latents: Array,
        labels: Sequence[Any] | Array | None = None,
        probabilities: Array | None = None,
        columns: Mapping[str, Sequence[Any]] | pa.Table | None = None,
    ) -> Self:
        """Return samples of arrays in memory; `Population.from_arrays` says what each is."""
        return cls(*samples_of_arrays(latents, labels, probabilities, columns))


def column_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of a table. Raises with the nearest names where there is none."""
    refuse_unknown("column", name, table.column_names)
    return table[name]


def doubles_of(column: pa.ChunkedArray) -> Float64Array:
    """Return a column of numbers, or of yes and no, as float64, NaN where there is no value."""
    return np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(), np.float64)
