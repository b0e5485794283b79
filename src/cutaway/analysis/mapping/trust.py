"""How far a map can be trusted: whether those who are near in it were near in the latent space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.devices import choose_device
from cutaway.analysis.mapping.vectors import checked_positions, prepare
from cutaway.analysis.samples import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

if TYPE_CHECKING:
    import torch

__all__ = ["trustworthiness"]

# How many distances are held at a time.
BLOCK = {"cpu": 4_000_000, "cuda": 64_000_000}


def trustworthiness(
    latents: Array,
    positions: Array,
    *,
    k: int = 15,
    queries: int | None = 2000,
    seed: int = 0,
    device: str | None = None,
) -> float:
    """Return the trustworthiness of a map, 1 at best: how few of the `k` nearest in it come from far away.

    Neighbours and ranks are those among all samples that have a position; `queries` of them, chosen by the seed, are
    asked (None: all).
    """
    vectors = prepare(latents)
    plane = checked_positions(positions, len(vectors.finite))[vectors.finite]
    placed = np.asarray(np.isfinite(plane).all(axis=1))
    values, plane = vectors.values[placed], plane[placed]
    rows = len(values)
    if k < 1 or (queries is not None and queries < 1):
        raise ConfigurationError(f"`k >= 1` and `queries >= 1` must hold, but got k={k} and queries={queries}.")
    if 2 * k >= rows:
        raise AnalysisUnavailable(
            "trustworthiness", f"{rows} samples have a position, and {k} neighbours need more than {2 * k}"
        )
    asked = np.arange(rows)
    if queries is not None and queries < rows:
        asked = np.sort(np.random.default_rng(seed).choice(rows, queries, replace=False))
    where = choose_device(device)
    import torch

    space = torch.from_numpy(values).to(where, torch.float64)
    map_ = torch.from_numpy(plane).to(where, torch.float64)
    step = max(1, BLOCK[space.device.type] // rows)
    lost = sum(
        _lost_ranks(space, map_, torch.from_numpy(asked[start : start + step]).to(where), k)
        for start in range(0, len(asked), step)
    )
    return 1 - lost * 2 / (len(asked) * k * (2 * rows - 3 * k - 1))


def _lost_ranks(space: torch.Tensor, plane: torch.Tensor, asked: torch.Tensor, k: int) -> float:
    """Return by how much the ranks of the neighbours in the plane lie beyond `k` in the latent space, in all."""
    import torch

    near = _apart(plane, asked).topk(k, dim=1, largest=False, sorted=False).indices
    apart = _apart(space, asked)
    limits = apart.gather(1, near)
    ranks = torch.stack([(apart < limits[:, one : one + 1]).sum(dim=1) for one in range(k)]) + 1
    return float((ranks - k).clamp_min(0).sum())


def _apart(points: torch.Tensor, asked: torch.Tensor) -> torch.Tensor:
    """Return squared distances of some points to all, infinite to themselves."""
    import torch

    own = points[asked]
    apart = torch.addmm(points.square().sum(1), own, points.T, alpha=-2).add_(own.square().sum(1, keepdim=True))
    return apart.scatter_(1, asked[:, None], float("inf"))
