"""Weights drawn anew, for every format alike: the numbers of each tensor are shuffled among themselves.

A shuffled tensor keeps its scale and its distribution, so that what flows through the model stays in a sane range, and
loses what it had learned. Knows no framework; which tensors are weights is for each format to say.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable

__all__ = ["RANDOM_WEIGHTS", "shuffled", "shuffled_all"]

RANDOM_WEIGHTS = "randomised weights"


def shuffled(values: Array, seed: int, number: int) -> Array | None:
    """Return a tensor of floating-point numbers with its values in another order; None where all orders are alike.

    `number` says which tensor of the model it is: each has an order of its own. Tensors with values that are not
    finite are masks, not weights.
    """
    if values.size < 2 or not np.isfinite(values).all() or values.min() == values.max():
        return None
    flat = np.array(values, order="C").reshape(-1)
    np.random.default_rng([seed, number]).shuffle(flat)
    moved: Array = flat.reshape(values.shape)
    # A few values may come out as they were; moved on by one they never are.
    return np.roll(moved, 1) if np.array_equal(moved, values) else moved


def shuffled_all(tensors: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Return those of the tensors that could be shuffled. Raises `AnalysisUnavailable` where it was none of them."""
    orders = {name: shuffled(values, seed, i) for i, (name, values) in enumerate(tensors.items())}
    found = {name: values for name, values in orders.items() if values is not None}
    if not found:
        raise AnalysisUnavailable(RANDOM_WEIGHTS, "the model has no tensor of weights whose values differ.")
    return found
