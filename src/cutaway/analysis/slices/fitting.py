"""What some slices together say of the outcome, and what they leave over. Looks for no slices.

Where slices overlap, the rows are as bad as the slices add up to, or as the worst of them: whichever fits better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cutaway.analysis.slices.outcome import Target
from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["Left", "left_over"]

ROUNDS = 25
# A row is not held to be much safer than the average one, and never sure: its mistake would outweigh all others.
SAFEST = 0.1


@dataclass(frozen=True)
class Left:
    """What is left of each row: its weighted difference from what was expected, and the variance and skew of that."""

    signal: Float64Array
    variance: Float64Array
    skew: Float64Array

    @cached_property
    def total(self) -> float:
        """The variance of all rows."""
        return float(self.variance.sum())

    @cached_property
    def even(self) -> bool:
        """Whether variance and skew are the same for all rows."""
        return bool(self.variance[0] == self.variance.max() == self.variance.min())


@dataclass(frozen=True)
class _Cells:
    """Rows that lie in the same slices, together."""

    inside: BoolArray
    counts: Float64Array
    sums: Float64Array
    of_row: Int64Array


def left_over(target: Target, slices: Sequence[BoolArray]) -> Left:
    """Return what is left of the outcome when these slices are known."""
    scores = target.scores
    cells = _cells(scores, slices)
    if not slices:
        expected = np.full(1, scores.mean())
    else:
        added = _added(cells)
        worst = _worst(cells, added[0])
        expected = max((added[1], worst), key=lambda means: _likelihood(target, cells, means))
    means = expected[cells.of_row]
    if target.binary:
        low = max(SAFEST * scores.mean(), 1 / len(scores))
        means = np.clip(means, low, 1 - min(low, 0.5))
        variance = means * (1 - means)
        third = variance * (1 - 2 * means)
    else:
        rest = scores - means
        variance = np.full(len(scores), max(float(np.mean(rest**2)), 1e-12))
        third = np.full(len(scores), float(np.mean(rest**3)))
    # Dividing by the variance lets rows whose outcome is surest speak loudest: the best weights for a shift.
    return Left((scores - means) / variance, 1 / variance, third / variance**3)


def _cells(scores: Float64Array, slices: Sequence[BoolArray]) -> _Cells:
    if not slices:
        return _Cells(
            np.zeros((1, 0), np.bool_), np.array([float(len(scores))]), scores[:0], np.zeros(len(scores), np.int64)
        )
    packed = np.packbits(np.stack(slices, 1), axis=1)
    wide = np.zeros((len(packed), 8 * -(-packed.shape[1] // 8)), np.uint8)
    wide[:, : packed.shape[1]] = packed
    words = wide.view(np.uint64)
    key = words[:, 0] if words.shape[1] == 1 else words
    _, first, of_row = np.unique(key, return_index=True, return_inverse=True, axis=None if key.ndim == 1 else 0)
    of_row = of_row.reshape(-1)
    inside = np.stack([one[first] for one in slices], 1)
    counts = np.bincount(of_row).astype(np.float64)
    return _Cells(inside, counts, np.asarray(np.bincount(of_row, scores), np.float64), of_row)


def _added(cells: _Cells) -> tuple[Float64Array, Float64Array]:
    """Return what each slice adds, and what is expected of each cell: a base and all that its slices add."""
    design = np.column_stack([np.ones(len(cells.counts)), cells.inside])
    normal = design.T @ (design * cells.counts[:, None])
    # A hair of a ridge: slices may say the same of all rows.
    normal += np.diag(1e-9 * np.diag(normal))
    found = np.linalg.solve(normal, design.T @ cells.sums)
    return np.asarray(found[1:], np.float64), np.asarray(design @ found, np.float64)


def _worst(cells: _Cells, start: Float64Array) -> Float64Array:
    """Return what is expected of each cell: a base and what the worst of its slices adds."""
    rises = np.maximum(start, 0.0)
    rows = np.arange(len(cells.counts))
    base = 0.0
    for _ in range(ROUNDS):
        values = np.where(cells.inside, rises, 0.0)
        worst = values.argmax(axis=1)
        plain = values[rows, worst] <= 0
        if plain.any():
            base = cells.sums[plain].sum() / cells.counts[plain].sum()
        counts = np.bincount(worst[~plain], cells.counts[~plain], len(rises))
        sums = np.bincount(worst[~plain], cells.sums[~plain], len(rises))
        before = rises
        rises = np.where(counts > 0, np.maximum(sums / np.maximum(counts, 1) - base, 0.0), 0.0)
        if np.abs(rises - before).max() < 1e-6:
            break
    return np.asarray(base + np.where(cells.inside, rises, 0.0).max(axis=1), np.float64)


def _likelihood(target: Target, cells: _Cells, means: Float64Array) -> float:
    if target.binary:
        low = max(SAFEST * target.scores.mean(), 1 / len(target.scores))
        safe = np.clip(means, low, 1 - min(low, 0.5))
        return float((cells.sums * np.log(safe) + (cells.counts - cells.sums) * np.log1p(-safe)).sum())
    return float((2 * cells.sums * means - cells.counts * means**2).sum())
