"""Puts new samples on a map that exists, near the samples that they are like. The map itself does not move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.devices import choose_device
from cutaway.analysis.mapping.graph import membership
from cutaway.analysis.mapping.nearest import nearest_rows
from cutaway.analysis.mapping.vectors import checked_positions, prepare
from cutaway.arrays import Array, Float32Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

if TYPE_CHECKING:
    import torch

__all__ = ["place", "place_near"]

# How near two neighbours must lie on the map, in parts of its width, to speak for one place.
TOGETHER = 0.1
# How many new samples are put down at a time.
BLOCK = 50_000


def place(
    new: Array,
    latents: Array,
    positions: Array,
    *,
    neighbours: int = 15,
    seed: int = 0,
    device: str | None = None,
) -> Float32Array:
    """Return positions (m, 2) of new latent vectors on the map of `latents` that `positions` is.

    A new sample comes to lie among its nearest neighbours; one whose vector is not finite gets NaN.
    """
    known = prepare(latents)
    plane = checked_positions(positions, len(known.finite))[known.finite]
    there = np.isfinite(plane).all(axis=1)
    if not there.any():
        raise AnalysisUnavailable("placing samples", "no sample of the map has a position and a finite latent vector")
    if neighbours < 1:
        raise ConfigurationError(f"`neighbours >= 1` must hold, but got neighbours={neighbours}.")
    asked = known.like(new)
    where = choose_device(device)
    import torch

    points = torch.from_numpy(np.ascontiguousarray(known.values[there])).to(where)
    queries = torch.from_numpy(asked.values).to(where)
    placed = place_near(queries, points, torch.from_numpy(plane[there]).to(where), neighbours=neighbours, seed=seed)
    return asked.spread(placed.cpu().numpy())


def place_near(
    queries: torch.Tensor, points: torch.Tensor, plane: torch.Tensor, *, neighbours: int, seed: int
) -> torch.Tensor:
    """Return where `queries` lie on the `plane` of `points`."""
    import torch

    if not len(queries):
        return torch.zeros((0, 2), device=points.device)
    k = min(neighbours, len(points))
    numbers, distances = nearest_rows(points, k, queries=queries, seed=seed)
    sure = membership(distances)
    near = TOGETHER * (plane.amax(dim=0) - plane.amin(dim=0)).amax().clamp_min(1e-12)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(queries), BLOCK)]
    return torch.cat([_among(plane[numbers[block]], sure[block], near) for block in blocks])


def _among(around: torch.Tensor, sure: torch.Tensor, near: torch.Tensor) -> torch.Tensor:
    """Return the mean of those neighbours that lie around the one that most others lie near to.

    A mean of all, with some of them in another cluster, would lie in neither.
    """
    import torch

    apart = (around[:, :, None] - around[:, None]).square().sum(3) / near.square()
    together = 1 / (1 + apart)
    middle = (together * sure[:, None]).sum(2).argmax(dim=1)
    weights = (sure * together[torch.arange(len(around)), middle].square())[..., None]
    return (around * weights).sum(1) / weights.sum(1)
