"""How good maps and searches are, computed apart from what is judged. numpy and torch only, on any device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["QUERIES", "kept_share", "label_accuracy", "recall", "trustworthiness"]

QUERIES = 2000
# How many distances are held at a time.
BLOCK = {"cpu": 6_000_000, "cuda": 100_000_000}

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def trustworthiness(
    latents: Floats, maps: Sequence[Floats], *, k: int = 15, queries: int = QUERIES, seed: int = 0, device: str = "cpu"
) -> list[float]:
    """The trustworthiness of each map: the same queries for all, ranks among all points, in double precision."""
    import torch

    rows = len(latents)
    asked = np.sort(np.random.default_rng(seed).choice(rows, min(queries, rows), replace=False))
    space = torch.from_numpy(np.asarray(latents)).to(device, torch.float64)
    planes = [torch.from_numpy(np.asarray(one)).to(device, torch.float64) for one in maps]
    lost = [0.0] * len(maps)
    step = max(1, BLOCK[space.device.type] // rows)
    for start in range(0, len(asked), step):
        part = torch.from_numpy(asked[start : start + step]).to(device)
        apart = _distances(space, part)
        for number, plane in enumerate(planes):
            near = _distances(plane, part).topk(k, largest=False, sorted=False).indices
            limits = apart.gather(1, near)
            ranks = torch.stack([(apart < limits[:, [one]]).sum(1) for one in range(k)]) + 1
            lost[number] += float((ranks - k).clamp_min(0).sum())
    return [1 - one * 2 / (len(asked) * k * (2 * rows - 3 * k - 1)) for one in lost]


def kept_share(before: Ints, now: Ints) -> npt.NDArray[np.float64]:
    """Which share of its neighbours each row kept."""
    same = (before[:, :, None] == now[:, None, :]).any(axis=2).sum(axis=1)
    return np.asarray(same / before.shape[1], np.float64)


def label_accuracy(known: Floats, labels: Ints, asked: Floats, wanted: Ints, k: int = 15) -> float:
    """Which share of the asked positions has the label that most of its `k` nearest in the plane have."""
    from sklearn.neighbors import KNeighborsClassifier

    judge = KNeighborsClassifier(n_neighbors=k).fit(known, labels)
    return float((judge.predict(asked) == wanted).mean())


def recall(found: Ints, wanted: Ints) -> float:
    """Which share of the wanted neighbours was found."""
    return float(kept_share(wanted, found).mean())


def _distances(points: Any, asked: Any) -> Any:
    """Squared distances of some points to all, infinite to themselves."""
    import torch

    own = points[asked]
    apart = torch.addmm(points.square().sum(1), own, points.T, alpha=-2).add_(own.square().sum(1, keepdim=True))
    return apart.scatter_(1, asked[:, None], float("inf"))
