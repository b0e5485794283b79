"""The units of a layer: which axis of an activation they lie along, and how much of each something holds for."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, Float64Array

__all__ = ["share_per_channel"]


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
