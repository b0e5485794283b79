"""A batch of samples on its way into the model: what was encoded, what is known of each, and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutaway.arrays import Array, BoolArray, IndexArray
from cutaway.dataset.subset import Scalar

__all__ = ["Prepared", "rows_not_finite"]


@dataclass
class Prepared:
    """The samples `start` to `stop` of a subset.

    `inputs` and `truths` have a row for each sample that could be encoded, in their order: those where `errors` has
    None or where `kept` says that only something beside them failed. `metadata` has None where it failed.
    """

    subset: str
    start: int
    stop: int
    ids: list[str]
    errors: list[str | None]
    encoded: BoolArray
    inputs: Mapping[str, Array] = field(default_factory=dict)
    truths: Mapping[str, Array] = field(default_factory=dict)
    metadata: list[dict[str, Scalar] | None] = field(default_factory=list)
    hashes: list[str | None] = field(default_factory=list)
    previews: list[bytes | None] | None = None
    not_finite: int = 0
    about: Any = None

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def positions(self) -> IndexArray:
        """The positions in the batch of the rows of `inputs` and `truths`."""
        return np.flatnonzero(self.encoded)

    def fail(self, i: int, error: str) -> None:
        """Note why the i-th sample of the batch is not whole; the first reason stays."""
        if self.errors[i] is None:
            self.errors[i] = error


def rows_not_finite(arrays: Iterable[Array], count: int) -> BoolArray:
    """Return which of `count` rows hold NaN or infinity in any array; numbers that are no floats hold neither."""
    rows = np.zeros(count, np.bool_)
    for values in arrays:
        # One quick sum that only a bad value, or an overflow, keeps from being finite; then the slow look at each.
        with np.errstate(all="ignore"):
            if values.dtype.kind != "f" or np.isfinite(values.sum()):
                continue
        rows |= ~np.isfinite(values.reshape(count, -1)).all(axis=1)
    return rows
