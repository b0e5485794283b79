"""The two directions in which samples differ most. On numpy alone: a preview should not wait for torch to load."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float32Array

__all__ = ["two_directions"]

# Beyond so many columns the whole matrix of covariances costs more than a few passes over the rows.
WIDEST_COVARIANCE = 1024
PASSES, EXTRA = 4, 10


def two_directions(values: Float32Array, seed: int = 0) -> Float32Array:
    """Return the coordinates (n, 2) of rows along the first two principal directions, zeros where there are none.

    A direction points to where its largest part is positive, so that it does not turn about from call to call.
    """
    rows, width = values.shape
    found = np.zeros((rows, 2), np.float32)
    if rows < 2 or width == 0:
        return found
    centred = values - values.mean(axis=0, dtype=np.float64).astype(np.float32)
    directions = _whole(centred) if width <= WIDEST_COVARIANCE else _by_passes(centred, seed)
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.where(directions[largest, range(directions.shape[1])] < 0, -1, 1)
    found[:, : directions.shape[1]] = centred @ directions.astype(np.float32)
    return found


def _whole(centred: Float32Array) -> Float32Array:
    _, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return np.asarray(vectors[:, ::-1][:, :2], np.float32)


def _by_passes(centred: Float32Array, seed: int) -> Float32Array:
    """A subspace that is sent through the covariance a few times turns to its first directions."""
    rng = np.random.default_rng(seed)
    basis = rng.standard_normal((centred.shape[1], min(2 + EXTRA, len(centred)))).astype(np.float32)
    for _ in range(PASSES):
        basis, _ = np.linalg.qr(centred.T @ (centred @ basis))
    _, _, vectors = np.linalg.svd(centred @ basis, full_matrices=False)
    return np.asarray(basis @ vectors[:2].T, np.float32)
