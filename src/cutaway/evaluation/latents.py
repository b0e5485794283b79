"""Latent vectors of users' own spaces: calls their functions and makes one vector a sample of whatever they return."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from cutaway.arrays import Array, Float32Array
from cutaway.dataset.calling import Failed
from cutaway.dataset.enums import LatentReduction
from cutaway.dataset.functions import LatentSpace
from cutaway.evaluation.scoring import Bound, Values, call_on_batch
from cutaway.models.latents import pooled

__all__ = ["own_vectors"]


def own_vectors(bound: Bound, values: Values, errors: dict[int, str]) -> Float32Array | None:
    """Return the vectors of a batch in a space of somebody's own, NaN where it failed; None where it failed for all."""
    found = call_on_batch(bound, values, partial(_vectors_of_result, bound), errors).get("vectors")
    if found is None:
        return None
    size = max((len(one) for one in found if one is not None), default=0)
    vectors = np.full((len(values), size), np.nan, np.float32)
    for row, one in enumerate(found):
        if one is not None and len(one) == size:
            vectors[row] = one
        elif one is not None:
            errors.setdefault(row, f"latent space {bound.name!r} has {len(one)} numbers here, elsewhere {size}.")
    return vectors


def _vectors_of_result(bound: Bound, result: Any, rows: int) -> dict[str, Float32Array]:
    space = bound.function
    assert isinstance(space, LatentSpace)
    given = np.asarray(result.detach().cpu() if hasattr(result, "detach") else result)
    if given.dtype.kind not in "biuf" or not given.ndim or len(given) != rows:
        reason = (
            f"it must return one vector for each of {rows} samples, but returned {given.dtype} of shape {given.shape}."
        )
        raise Failed(reason, space.place)
    return {"vectors": _reduced(given, space)}


def _reduced(values: Array, space: LatentSpace) -> Float32Array:
    if values.ndim <= 2:
        return values.reshape(len(values), -1).astype(np.float32)
    if space.reduce is LatentReduction.RANDOM_PROJECTION:
        flat = values.reshape(len(values), -1).astype(np.float32)
        return np.asarray(flat @ _projection(flat.shape[1], space.n_components), np.float32)
    # Their axes do not count the batch.
    axis = space.channel_axis if space.channel_axis < 0 else space.channel_axis + 1
    return pooled(values, axis)


@lru_cache(maxsize=4)
def _projection(size: int, components: int) -> Float32Array:
    """Return one fixed matrix for a size: the same in every batch, run and process."""
    matrix = np.random.default_rng(0).standard_normal((size, min(components, size)), dtype=np.float32)
    return np.asarray(matrix / np.sqrt(matrix.shape[1]), np.float32)
