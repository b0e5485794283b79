"""What an evaluation has of each sample beside its table: latent vectors, probabilities, hashes of the content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.arrays import Float32Array
from cutaway.errors import EvaluationError
from cutaway.run.evaluated.answer import ModelAnswer
from cutaway.run.evaluations import Evaluation, space_file_name

__all__ = ["read_hashes", "read_latents", "read_probabilities"]

# More classes than this times samples of probabilities are left in their file.
MOST_PROBABILITIES = 50_000_000


def read_latents(evaluation: Evaluation, subsets: Sequence[str], space: str) -> Float32Array:
    """Return the latent vectors of some subsets, one after the other. Raises where they are not of one width."""
    failed = {name: rows for name in subsets if (rows := _all_failed(evaluation, name, space))}
    found = {name: evaluation.latents(name, space) for name in subsets if name not in failed}
    # Where nothing tells how wide a vector is, one NaN says that there is none.
    width = next(iter(found.values())).shape[1:] if found else (1,)
    arrays = [found[name] if name in found else np.full((failed[name], *width), np.nan, np.float32) for name in subsets]
    widths = {values.shape[1:] for values in arrays}
    if len(widths) != 1 or len(next(iter(widths))) != 1 or any(values.dtype.kind != "f" for values in arrays):
        listed = ", ".join(
            f"{values.dtype} {values.shape} of {name}" for name, values in zip(subsets, arrays, strict=True)
        )
        raise EvaluationError(
            f"The latent vectors of space {space!r} must be numbers of one width, but evaluation {evaluation.number} "
            f"has {listed or 'none'}.",
            hint="Evaluate again.",
        )
    # One subset stays where it lies on disk; several are put together.
    whole = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    return whole.astype(np.float32, copy=False)


def _all_failed(evaluation: Evaluation, subset: str, space: str) -> int:
    """Return how many samples a subset has of which each failed, so that there is no file of vectors; else 0."""
    if (evaluation.path / f"{subset}.{space_file_name(space)}.npy").is_file():
        return 0
    errors = evaluation.table(subset, ["error"])
    return len(errors) if errors.num_columns and not errors["error"].null_count else 0


def read_probabilities(
    evaluation: Evaluation, subsets: Sequence[str], answer: ModelAnswer, rows: int
) -> Float32Array | None:
    """Return the probabilities of the classes: the model's own, or the softmax of the scores that it gives instead."""
    if not answer.classes or rows * len(answer.classes) > MOST_PROBABILITIES:
        return None
    name = answer.score_column
    found = []
    for subset in subsets:
        if name not in evaluation.column_names(subset) or evaluation.in_blobs(subset, name):
            return None
        found.append(_dense(evaluation.table(subset, [name])[name].combine_chunks(), len(answer.classes)))
    scores = np.concatenate(found)
    return scores if answer.probabilities else _softmax(scores)


def _softmax(scores: Float32Array) -> Float32Array:
    with np.errstate(invalid="ignore"):
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True), np.float32)


def read_hashes(evaluation: Evaluation, subsets: Sequence[str]) -> tuple[str | None, ...] | None:
    if not all("hash" in evaluation.column_names(name) for name in subsets):
        return None
    columns = [evaluation.table(name, ["hash"])["hash"] for name in subsets]
    if not all(pa.types.is_string(one.type) or pa.types.is_null(one.type) for one in columns):
        return None
    return tuple(one for column in columns for one in column.to_pylist())


def _dense(column: Any, width: int) -> Float32Array:
    """Return lists of one length as rows, NaN where there is none."""
    dense = np.full((len(column), width), np.nan, np.float32)
    if not (pa.types.is_list(column.type) and _is_number(column.type.value_type)):
        return dense
    valid = np.asarray(column.is_valid())
    values = np.asarray(column.flatten(), np.float32)
    if values.size == valid.sum() * width:
        dense[valid] = values.reshape(-1, width)
    return dense


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
