"""Full values of tensors for rules that cannot do with statistics: which steps have any, what lies there,
and for how much of each channel something holds.
"""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, Float64Array, Int64Array
from cutaway.errors import RunDamaged
from cutaway.rules.rule import UNAVAILABLE
from cutaway.tensors.reader import TensorReader

__all__ = ["saved_places", "share_per_channel", "value_at"]


def saved_places(reader: TensorReader, steps: Int64Array) -> list[int]:
    """Return the places, among some steps, of those at which any tensor was saved in full."""
    found: list[int] = np.flatnonzero(np.isin(steps, np.asarray(reader.steps(), np.int64))).tolist()
    return found


def value_at(reader: TensorReader, tensor: str, step: int) -> Array | None:
    """Return a tensor's value at a step, or None where it was not saved or its bytes are damaged."""
    try:
        return reader.value(tensor, step)
    except (*UNAVAILABLE, RunDamaged):
        # The trial has named the damage already; a rule goes on with what there is.
        return None


def share_per_channel(holds: Array) -> Float64Array:
    """Return for each channel the share of its values that something holds for.

    Channels lie along axis 1, or along the last of a vector, as in the activity that a hook records.

    >>> share_per_channel(np.array([[True, False], [True, True]])).tolist()
    [1.0, 0.5]
    """
    if not holds.size:
        return np.empty(0)
    channel = min(1, holds.ndim - 1)
    axes = tuple(axis for axis in range(holds.ndim) if axis != channel)
    found: Float64Array = np.atleast_1d(holds.mean(axis=axes))
    return found
