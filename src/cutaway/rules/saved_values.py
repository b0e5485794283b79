"""Full values of tensors for rules that cannot do with statistics: which steps have any, and what lies there."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Array, Int64Array
from cutaway.errors import RunDamaged
from cutaway.rules.rule import UNAVAILABLE
from cutaway.tensors.reader import TensorReader

__all__ = ["saved_places", "value_at"]


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
