"""Latent vectors as a map takes them: finite rows only, centred, and of a size that squares well.

A map and its graph do not depend on where the origin lies or on the unit, so both are chosen here, once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array
from cutaway.errors import ConfigurationError

__all__ = ["FAR", "Vectors", "checked_positions", "prepare"]

# The centre and the unit need to be near, not exact; so many rows, evenly spaced, tell them.
ROWS_THAT_TELL = 2048
# How many times farther out than the typical row a row may lie. Beyond it squared distances swallow everything else.
FAR = 1e4


@dataclass(frozen=True)
class Vectors:
    """The finite rows of an array: `values` centred near 0 with a typical length of 1, `finite` says which rows.

    `centre` and `unit` lead there; `clipped` counts the rows that lie so far out that they were drawn nearer.
    """

    values: Float32Array
    finite: BoolArray
    centre: Float64Array
    unit: float
    clipped: int

    def spread(self, positions: Float32Array) -> Float32Array:
        """Return `positions` of the finite rows as positions of all rows, NaN for the others."""
        if self.finite.all():
            return positions
        everywhere = np.full((len(self.finite), positions.shape[1]), np.nan, np.float32)
        everywhere[self.finite] = positions
        return everywhere

    def like(self, others: Array) -> Vectors:
        """Return other vectors of the same space, with this centre and this unit."""
        given, width = _checked(others, "new"), len(self.centre)
        if given.shape[1] != width:
            raise ConfigurationError(f"`new` must be as wide as `latents` ({width}), but got {given.shape[1]} columns.")
        return _scaled(*_finite_rows(given), self.centre, self.unit)


def prepare(latents: Array, name: str = "latents") -> Vectors:
    """Return the finite rows of `latents`, centred and scaled. Raises for what is not a table of numbers."""
    rows, finite = _finite_rows(_checked(latents, name))
    centre, unit = _centre_and_unit(rows)
    return _scaled(rows, finite, centre, unit)


def checked_positions(positions: Array, rows: int, name: str = "positions") -> Float32Array:
    """Return positions as float32. Raises where there are not two numbers for each of `rows` samples."""
    given = np.asarray(positions)
    if given.shape != (rows, 2) or given.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`{name}` must be two numbers for each of {rows} samples, but got {given.dtype} of shape {given.shape}."
        )
    return given.astype(np.float32, copy=False)


def _checked(latents: Array, name: str) -> Array:
    given = np.asarray(latents)
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`{name}` must be numbers with a row for each sample, but got {given.dtype} of shape {given.shape}."
        )
    return given if given.dtype in (np.float32, np.float64) else given.astype(np.float32)


def _finite_rows(given: Array) -> tuple[Array, BoolArray]:
    finite = np.asarray(np.isfinite(given).all(axis=1))
    return (given if finite.all() else given[finite]), finite


def _centre_and_unit(rows: Array) -> tuple[Float64Array, float]:
    if not rows.size:
        return np.zeros(rows.shape[1]), 1.0
    few = rows[:: max(1, len(rows) // ROWS_THAT_TELL)].astype(np.float64)
    # Halved before they are added: the largest floats have no sum.
    centre = np.median(few * 0.5, axis=0) * 2
    largest = float(np.abs(rows * 0.5).max()) * 2 or 1.0
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(few / largest - centre / largest, axis=1)
    lengths = lengths[lengths > 0]
    unit = float(np.median(lengths)) * largest if len(lengths) else largest
    return centre, unit


def _scaled(rows: Array, finite: BoolArray, centre: Float64Array, unit: float) -> Vectors:
    if rows.dtype == np.float32 and unit < 1e15 and float(np.abs(centre).max(initial=0.0)) < 1e15:
        values = np.subtract(rows, centre.astype(np.float32))
        values *= np.float32(1 / unit)
    else:
        with np.errstate(over="ignore"):
            wide = np.clip(rows / unit - centre / unit, -1e15, 1e15)
        values = wide.astype(np.float32)
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", values, values))
    far = lengths > FAR
    if far.any():
        pulled = values[far].astype(np.float64)
        pulled *= FAR / np.linalg.norm(pulled, axis=1, keepdims=True)
        values[far] = pulled.astype(np.float32)
    return Vectors(np.ascontiguousarray(values), finite, centre, unit, int(far.sum()))
