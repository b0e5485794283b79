"""A linear fit of the classes on the latent vectors, each sample predicted as if it had been left out of the fit.

Leaving one out has a closed form, so that it costs one fit. Works in blocks: classes may be many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import BoolArray, Float32Array, Float64Array, IndexArray, Int64Array

__all__ = ["MOST_PREDICTIONS", "WIDEST", "Ridge", "fit_ridge"]

WIDEST = 1_024
"""Wider latent vectors are projected at random to so many numbers, which keeps distances to a few per cent."""
# How strongly the fit is held back, for each sample, of latent vectors whose units vary by 1 on average.
HELD_BACK = 0.01
MOST_PREDICTIONS = 4_000_000
"""So many predictions are held at a time."""
# A sample that the fit hangs on alone is predicted with this share of it, lest rounding be blown up.
LEAST_LEFT = 1e-3


@dataclass(frozen=True)
class Ridge:
    """A fit on samples with a label and a finite latent vector: `rows` of all."""

    rows: IndexArray
    vectors: Float32Array
    weights: Float32Array
    leverage: Float32Array
    labels: Int64Array

    def predictions(self) -> Iterator[tuple[IndexArray, Float32Array]]:
        """Yield blocks: which rows, and their predictions (rows, classes) without their own label."""
        classes = self.weights.shape[1]
        block = max(1, MOST_PREDICTIONS // classes)
        for start in range(0, len(self.rows), block):
            part = slice(start, start + block)
            found = self.vectors[part] @ self.weights
            leverage, places = self.leverage[part], np.arange(len(found))
            found[places, self.labels[part]] -= leverage
            found /= (1 - leverage)[:, None]
            yield self.rows[part], found


def fit_ridge(latents: Float32Array, labels: Int64Array, usable: BoolArray, classes: int, seed: int) -> Ridge:
    """Fit the classes of the usable samples."""
    rows = np.flatnonzero(usable)
    vectors = _scaled(_narrow(latents[rows], seed))
    chosen = labels[rows]
    # In float64, since the inverse of many samples' products is what precision is lost in.
    gram = np.asarray(vectors.T @ vectors, np.float64)
    gram[np.diag_indices_from(gram)] += HELD_BACK * len(rows) + 1e-9
    inverse = np.linalg.inv(gram)
    weights = inverse @ _class_sums(vectors, chosen, classes)
    leverage = ((vectors @ inverse.astype(np.float32)) * vectors).sum(axis=1)
    leverage = np.clip(leverage, 0, 1 - LEAST_LEFT)
    return Ridge(rows, vectors, weights.astype(np.float32), leverage, chosen)


def _narrow(vectors: Float32Array, seed: int) -> Float32Array:
    width = vectors.shape[1]
    if width <= WIDEST:
        return vectors
    random = np.random.default_rng(seed)
    onto = random.standard_normal((width, WIDEST), np.float32) / np.float32(np.sqrt(WIDEST))
    largest = float(np.abs(vectors).max(initial=0.0)) or 1.0
    return np.asarray((vectors / np.float32(largest)) @ onto, np.float32)


def _scaled(vectors: Float32Array) -> Float32Array:
    """Return vectors about their mean with units that vary by 1 on average, and a unit that is always 1."""
    wide = vectors.astype(np.float64)
    wide -= wide.mean(axis=0)
    spread = np.sqrt(np.square(wide).mean())
    found = np.ones((len(wide), wide.shape[1] + 1), np.float32)
    found[:, :-1] = wide / spread if spread > 0 else 0.0
    return found


def _class_sums(vectors: Float32Array, labels: Int64Array, classes: int) -> Float64Array:
    """Return the sum of the vectors of each class, (width, classes)."""
    sums = np.zeros((classes, vectors.shape[1]), np.float64)
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    sums[present] = np.add.reduceat(vectors[order].astype(np.float64), starts, axis=0)
    return sums.T
