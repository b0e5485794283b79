"""A heat map and the figures that say how far to trust it, as values. Computes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from cutaway.arrays import Array, Float32Array

__all__ = ["HeatMap", "Sanity", "SanityVerdict"]

SanityVerdict = Literal["better", "no different", "worse", "unknown"]
"""How a map does beside random ones: better or worse than each of them, or neither."""


@dataclass(frozen=True)
class Sanity:
    """How a map does when what it points at is taken away, beside maps that know nothing.

    Each figure is a deletion AUC: the places that a map holds most important are replaced by the baseline in 16 steps,
    and the model's score, as a share of what it was, is averaged over them. Lower is better. `random` has one for each
    of 20 random maps of the same smoothness; `magnitude` is that of the input's own absolute values, `random_weights`
    that of the same method on the same model with its weights drawn anew. None where it could not be had; `notes` say
    why.
    """

    deletion: float
    random: tuple[float, ...]
    magnitude: float | None = None
    random_weights: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> SanityVerdict:
        """How the map does beside the random ones."""
        if not self.random or not math.isfinite(self.deletion):
            return "unknown"
        if self.deletion < min(self.random):
            return "better"
        return "worse" if self.deletion > max(self.random) else "no different"

    @property
    def better_than_random(self) -> bool:
        """Whether the map beats every random one."""
        return self.verdict == "better"


@dataclass(frozen=True)
class HeatMap:
    """Where a model looked in one sample: one number for each place of an input.

    `values` has the places only: rows and columns of an image, times of a series, tokens of a text. Positive values
    speak for `target`, or raise the loss where `loss` is named; where `signed`, negative ones speak against it, or
    lower the loss. `attribution` has the input's own shape, channels included, where the method gives one. `score` is
    what was explained: the output at `target`, or the loss. `completeness` is, for integrated gradients, how far the
    sum of the map is from the change of the score, as a share of that change.
    """

    values: Float32Array
    method: str
    input: str
    output: str
    target: int | None
    score: float
    layer: str | None = None
    loss: str | None = None
    signed: bool = False
    attribution: Array | None = None
    completeness: float | None = None
    sanity: Sanity | None = None
    notes: tuple[str, ...] = ()
