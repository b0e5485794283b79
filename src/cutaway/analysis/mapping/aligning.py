"""Aligns a new map to an earlier one: samples that kept their neighbours keep their place.

A layout of neighbours is held by an anchor; a map of another method can only be turned as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.mapping.layout import Anchor
from cutaway.analysis.mapping.nearest import nearest_rows
from cutaway.analysis.mapping.placing import place_near
from cutaway.analysis.mapping.values import PreviousMap
from cutaway.analysis.mapping.vectors import checked_positions, prepare
from cutaway.arrays import BoolArray, Float32Array
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    import torch

__all__ = ["Earlier", "anchored_start", "earlier_map", "turned"]

# A sample that kept this part of its neighbours is held within this part of the map's width. Neighbours are found
# nearly all, not all, so both are a little stricter than what is promised: half of them, and 2 %.
KEPT, HELD_WITHIN = 0.45, 0.0195
# What part of the way back a sample goes after each step when it kept all of its neighbours.
PULL = 0.05


@dataclass(frozen=True)
class Earlier:
    """An earlier map: the prepared vectors and positions of the rows that it had; `known` says which those are now."""

    values: Float32Array
    positions: Float32Array
    known: BoolArray

    @property
    def width(self) -> float:
        """The larger side of the map."""
        return float(np.ptp(self.positions, axis=0).max()) if len(self.positions) else 0.0


def earlier_map(previous: PreviousMap, finite: BoolArray) -> Earlier:
    """Return what the earlier map has of the rows that are `finite` now."""
    latents = np.asarray(previous.latents)
    if latents.ndim != 2 or len(latents) != len(finite):
        raise ConfigurationError(
            f"`previous.latents` must have a row for each of {len(finite)} samples, with NaN for those that are new, "
            f"but got shape {latents.shape}."
        )
    positions = checked_positions(previous.positions, len(finite), "previous.positions")[finite]
    vectors = prepare(latents[finite], "previous.latents")
    placed = np.asarray(np.isfinite(positions).all(axis=1))
    known = vectors.finite & placed
    return Earlier(vectors.values[placed[vectors.finite]], positions[known], known)


def anchored_start(
    earlier: Earlier, points: torch.Tensor, numbers: torch.Tensor, seed: int
) -> tuple[torch.Tensor, Anchor]:
    """Return where the rows of a new map begin, and what holds them there; `numbers` are their neighbours now.

    Rows that are new, and those that lost most of their neighbours, begin among the neighbours that they have now: a
    layout moves rows little by little, and would not carry them from one cluster over to another.
    """
    import torch

    device = points.device
    rows = torch.from_numpy(np.flatnonzero(earlier.known)).to(device)
    start = torch.zeros((len(points), 2), device=device)
    start[rows] = torch.from_numpy(earlier.positions).to(device)
    kept = torch.zeros(len(points), device=device)
    kept[rows] = _kept(torch.from_numpy(earlier.values).to(device), numbers[rows], rows, seed)
    held = kept >= KEPT
    # Where no row kept its neighbours, what is known of the earlier map is still the better beginning.
    steady = held if bool(held.any()) else torch.from_numpy(earlier.known).to(device)
    start[~steady] = place_near(points[~steady], points[steady], start[steady], neighbours=numbers.shape[1], seed=seed)
    radius = torch.where(held, HELD_WITHIN * earlier.width, float("inf"))
    return start, Anchor(start.clone(), PULL * torch.where(held, kept, 0.0), radius)


def _kept(values: torch.Tensor, now: torch.Tensor, rows: torch.Tensor, seed: int) -> torch.Tensor:
    """Return which part of its neighbours `now` each row had before, when its vector was the one in `values`."""
    import torch

    k = now.shape[1]
    before = rows[nearest_rows(values, min(k, len(values) - 1), seed=seed)[0]]
    same = torch.zeros(len(now), device=now.device)
    for one in range(k):
        same += (before == now[:, one : one + 1]).any(dim=1)
    return same / k


def turned(positions: Float32Array, earlier: Earlier) -> Float32Array:
    """Return a map turned, mirrored and moved, not stretched, so that it lies on the earlier one as well as it can."""
    ours = positions[earlier.known].astype(np.float64)
    theirs = earlier.positions.astype(np.float64)
    centre, goal = ours.mean(axis=0), theirs.mean(axis=0)
    left, _, right = np.linalg.svd((ours - centre).T @ (theirs - goal))
    return np.asarray((positions - centre) @ (left @ right) + goal, np.float32)
