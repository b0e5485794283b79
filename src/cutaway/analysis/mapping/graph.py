"""The graph of a map: who is whose neighbour, and how surely (the fuzzy graph of UMAP). Lays nothing out."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["Graph", "membership", "neighbour_graph"]

# Enough halvings for the width of a neighbourhood to settle to a few digits.
HALVINGS = 24
# The width is no smaller than this part of the mean distance, as in UMAP: equal rows would have none.
SMALLEST_WIDTH = 1e-3


@dataclass(frozen=True)
class Graph:
    """Edges of `rows` rows, each once: `heads` below `tails`, sorted, with a weight above 0 and at most 1."""

    rows: int
    heads: torch.Tensor
    tails: torch.Tensor
    weights: torch.Tensor


def neighbour_graph(numbers: torch.Tensor, distances: torch.Tensor) -> Graph:
    """Return the graph of neighbours: `numbers` (n, k) with their `distances`, nearest first."""
    import torch

    rows, k = numbers.shape
    one_way = membership(distances)
    own = torch.arange(rows, device=numbers.device)[:, None].expand(rows, k)
    low, high = torch.minimum(own, numbers).flatten(), torch.maximum(own, numbers).flatten()
    keys, order = (low * rows + high).sort(stable=True)
    weights = one_way.flatten()[order]
    # An edge stands here once or twice, depending on whether the neighbours chose each other: a + b - ab.
    first = torch.ones(len(keys), dtype=torch.bool, device=keys.device)
    first[1:] = keys[1:] != keys[:-1]
    at = first.nonzero()[:, 0]
    one = weights[at]
    following = (at + 1).clamp_max(len(keys) - 1)
    both = (following > at) & ~first[following]
    other = torch.where(both, weights[following], 0.0)
    surer, other = torch.maximum(one, other), torch.minimum(one, other)
    together = surer + other * (1 - surer)
    kept = together > 0
    edges = keys[at[kept]]
    return Graph(rows, edges // rows, edges % rows, together[kept])


def membership(distances: torch.Tensor) -> torch.Tensor:
    """Return how surely each neighbour is one: 1 for the nearest, then falling, with log2(k) in all in a row.

    The width of the fall is found for each row, so that dense and sparse places count alike.
    """
    import torch

    k = distances.shape[1]
    beyond = distances - distances[:, :1]
    unit = distances.mean(1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
    beyond = beyond / unit
    low, high = torch.zeros_like(unit), torch.full_like(unit, float("inf"))
    width = torch.ones_like(unit)
    target = max(log2(k), 1.0)
    for _ in range(HALVINGS):
        wide = (beyond / -width).exp_().sum(1, keepdim=True) > target
        high, low = torch.where(wide, width, high), torch.where(wide, low, width)
        width = torch.where(high.isinf(), width * 2, (low + high) / 2)
    return (beyond / -width.clamp_min(SMALLEST_WIDTH)).exp_()
