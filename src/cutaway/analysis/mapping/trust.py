"""How far a map can be trusted: whether those who are near in it were near in the latent space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.devices import choose_device
from cutaway.analysis.mapping.vectors import checked_positions, prepare
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

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
    progress: Listener | None = None,
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

    space = _Points(torch.from_numpy(values).to(where, torch.float64))
    map_ = _Points(torch.from_numpy(plane).to(where, torch.float64))
    step = max(1, BLOCK[space.rows.device.type] // rows)
    counter = Counter(progress, len(asked), "samples", "measuring how far the map can be trusted")
    lost = 0.0
    for start in range(0, len(asked), step):
        some = torch.from_numpy(asked[start : start + step]).to(where)
        lost += _lost_ranks(space, map_, some, k)
        counter.advance(len(some))
    return 1 - lost * 2 / (len(asked) * k * (2 * rows - 3 * k - 1))


def _lost_ranks(space: _Points, plane: _Points, asked: torch.Tensor, k: int) -> float:
    """Return by how much the ranks of the neighbours in the plane lie beyond `k` in the latent space, in all."""
    import torch

    near = plane.apart(asked).topk(k, dim=1, largest=False, sorted=False).indices
    apart = space.apart(asked)
    limits = apart.gather(1, near).sort(dim=1).values
    # Each distance is put between two limits once; how many lie below each limit is then a running sum.
    between = torch.searchsorted(limits, apart, right=True, out_int32=True)
    between += torch.arange(len(asked), dtype=torch.int32, device=apart.device)[:, None] * (k + 1)
    counts = torch.bincount(between.flatten(), minlength=len(asked) * (k + 1)).view(-1, k + 1)
    ranks = counts.cumsum(dim=1)[:, :k] + 1
    return float((ranks - k).clamp_min(0).sum())


class _Points:
    """Points and their squared lengths, which every block of distances needs."""

    def __init__(self, rows: torch.Tensor) -> None:
        self.rows = rows
        self._squares = rows.square().sum(1)

    def apart(self, asked: torch.Tensor) -> torch.Tensor:
        """Return squared distances of some points to all, infinite to themselves."""
        import torch

        own = self.rows[asked]
        apart = torch.addmm(self._squares, own, self.rows.T, alpha=-2).add_(self._squares[asked][:, None])
        return apart.scatter_(1, asked[:, None], float("inf"))
