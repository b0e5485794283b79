"""`Dynamics`: what a training saw of each sample, visit by visit. Holds it; where it is recorded is not its matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from cutaway.arrays import Array, Float32Array, IndexArray
from cutaway.errors import ConfigurationError

__all__ = ["Dynamics"]


@dataclass(frozen=True)
class Dynamics:
    """The loss and the margin of each sample each time that training saw it: (visits, samples), NaN where it did not.

    Visit `v` of a sample is the `v`-th time that it was in a batch: its epoch, where each epoch sees it once. The
    margin is the score of its label less the best of the others, as the model gave scores: below 0 it was wrong.
    """

    losses: Float32Array
    margins: Float32Array

    def __post_init__(self) -> None:
        if self.losses.ndim != 2 or self.losses.shape != self.margins.shape:
            raise ConfigurationError(
                f"`losses` and `margins` must be (visits, samples), but got shapes {self.losses.shape} and "
                f"{self.margins.shape}."
            )

    def __len__(self) -> int:
        return int(self.losses.shape[1])

    @property
    def visits(self) -> IndexArray:
        """How often each sample was seen."""
        return np.asarray(np.isfinite(self.margins).sum(axis=0))

    def take(self, rows: Array) -> Self:
        """Return some of the samples, by position."""
        return type(self)(self.losses[:, rows], self.margins[:, rows])
