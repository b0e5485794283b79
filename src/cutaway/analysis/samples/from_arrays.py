"""Samples that lie in arrays: checks what a person gives, and names what they did not. Reads no files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, Float32Array
from cutaway.errors import ConfigurationError
from cutaway.run.evaluated.columns import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET

__all__ = ["samples_of_arrays"]

# What samples in arrays belong to where their columns do not say it.
NO_SUBSET = "samples"
# A probability of 0 for the right class would be an infinite loss.
SMALLEST = 1e-12


def samples_of_arrays(
    latents: Array,
    labels: Sequence[Any] | Array | None,
    probabilities: Array | None,
    columns: Mapping[str, Sequence[Any]] | pa.Table | None,
) -> tuple[pa.Table, Float32Array, tuple[str, ...], Float32Array | None]:
    """Return the table, the latent vectors, the names of the classes and the probabilities of samples in arrays."""
    vectors = np.asarray(latents)
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`latents` must be numbers with a row for each sample, but got {vectors.dtype} of shape {vectors.shape}."
        )
    rows = len(vectors)
    given = {name: _column(name, values, rows) for name, values in _named(columns).items()}
    chances = _probabilities(probabilities, rows)
    classes, answers = _labelled(labels, chances, rows)
    built: dict[str, pa.Array] = {
        SAMPLE: given.pop(SAMPLE, None) or pa.array([str(row) for row in range(rows)]),
        SUBSET: given.pop(SUBSET, None) or pa.array([NO_SUBSET] * rows),
    }
    if answers is not None:
        built[LABEL] = pa.array(answers, pa.string())
    if chances is not None:
        built |= _predicted(chances, classes, answers)
    if len(set(built[SAMPLE].to_pylist())) < rows:
        raise ConfigurationError("Column 'sample' names one sample twice.", hint="Give each sample an id of its own.")
    return pa.table({**built, **given}), vectors.astype(np.float32, copy=False), classes, chances


def _named(columns: Mapping[str, Sequence[Any]] | pa.Table | None) -> dict[str, Any]:
    if columns is None:
        return {}
    if isinstance(columns, pa.Table):
        return {name: columns[name].combine_chunks() for name in columns.column_names}
    return dict(columns)


def _column(name: str, values: Any, rows: int) -> pa.Array:
    try:
        column = values if isinstance(values, pa.Array) else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ConfigurationError(f"Column {name!r} is none: {error}") from error
    if len(column) != rows:
        raise ConfigurationError(f"Column {name!r} has {len(column)} values for {rows} samples.")
    return column.cast(pa.string()) if name in (SAMPLE, SUBSET) else column


def _probabilities(given: Array | None, rows: int) -> Float32Array | None:
    if given is None:
        return None
    chances = np.asarray(given)
    if chances.ndim != 2 or len(chances) != rows or chances.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`probabilities` must be numbers with a row for each of {rows} samples and a column for each class, "
            f"but got {chances.dtype} of shape {chances.shape}."
        )
    return chances.astype(np.float32, copy=False)


def _labelled(
    labels: Sequence[Any] | Array | None, chances: Float32Array | None, rows: int
) -> tuple[tuple[str, ...], list[str | None] | None]:
    """Return the names of the classes, and the class of each sample; whole numbers count the columns of `chances`."""
    width = 0 if chances is None else chances.shape[1]
    if labels is None:
        return tuple(str(one) for one in range(width)), None
    given = pa.array(labels)
    if len(given) != rows or pa.types.is_nested(given.type):
        raise ConfigurationError(f"`labels` must be one class for each of {rows} samples, but got {given.type}.")
    values = [None if isinstance(one, float) and math.isnan(one) else one for one in given.to_pylist()]
    present = sorted({one for one in values if one is not None})
    whole = pa.types.is_integer(given.type) or pa.types.is_boolean(given.type)
    if whole and chances is not None:
        if present and not 0 <= int(present[0]) <= int(present[-1]) < width:
            raise ConfigurationError(f"`labels` count the {width} columns of `probabilities`, but reach {present[-1]}.")
        classes = tuple(str(one) for one in range(width))
    else:
        classes = tuple(str(one) for one in present)
        if chances is not None and len(classes) != width:
            raise ConfigurationError(
                f"`probabilities` has {width} columns, but the labels have {len(classes)} names.",
                hint="Give the labels as the numbers of the columns.",
            )
    return classes, [None if one is None else str(int(one) if whole else one) for one in values]


def _predicted(
    chances: Float32Array, classes: tuple[str, ...], answers: list[str | None] | None
) -> dict[str, pa.Array]:
    good = np.asarray(np.isfinite(chances).all(axis=1))
    largest = (
        np.where(good, np.nan_to_num(chances).argmax(axis=1), 0) if chances.shape[1] else np.zeros(len(chances), int)
    )
    predicted = [classes[int(one)] if fine else None for one, fine in zip(largest, good, strict=True)]
    found = {PREDICTION: pa.array(predicted, pa.string())}
    if answers is None:
        return found
    number = {name: i for i, name in enumerate(classes)}
    known = np.array([one is not None for one in answers], np.bool_) & good
    target = np.array([0 if one is None else number[one] for one in answers], np.intp)
    losses = np.abs(np.log(np.maximum(chances[np.arange(len(chances)), target], SMALLEST)))
    right = [one == other if fine else None for one, other, fine in zip(answers, predicted, known, strict=True)]
    return {**found, CORRECT: pa.array(right, pa.bool_()), LOSS: pa.array(losses, pa.float32(), mask=~known)}
