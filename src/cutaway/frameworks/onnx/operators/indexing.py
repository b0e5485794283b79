"""Operators that pick or place values by index; a negative index counts from the end."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.torch_values import integers

__all__ = ["OPERATORS"]

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _from_start(indices: Tensor, size: int) -> Tensor:
    indices = indices.long()
    return torch.where(indices < 0, indices + size, indices)


def _gather(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    axis = node.integer("axis", 0) % x.dim()
    places = _from_start(indices, x.shape[axis])
    picked = torch.index_select(x, axis, places.flatten())
    return picked.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _gather_elements(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    axis = node.integer("axis", 0)
    return torch.gather(x, axis, _from_start(indices, x.shape[axis]))


def _scatter_elements(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    axis = node.integer("axis", 0)
    return _scattered(x, axis, _from_start(indices, x.shape[axis]), updates, node.text("reduction", "none"))


def _gather_nd(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    batch = node.integer("batch_dims", 0)
    depth = indices.shape[-1]
    rest = x.shape[batch + depth :]
    places = _flat_places(indices, x.shape[batch : batch + depth])
    if batch == 0:
        return x.reshape(-1, *rest)[places]
    together = math.prod(x.shape[:batch])
    values = x.reshape(together, -1, *rest)
    places = places.reshape(together, -1)
    rows = torch.arange(together)[:, None]
    return values[rows, places].reshape((*indices.shape[:-1], *rest))


def _scatter_nd(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    depth = indices.shape[-1]
    rest = math.prod(x.shape[depth:])
    places = _flat_places(indices, x.shape[:depth]).flatten()
    values, updates = x.reshape(-1, rest), updates.reshape(-1, rest)
    spread = places[:, None].expand(-1, rest)
    return _scattered(values, 0, spread, updates, node.text("reduction", "none")).reshape(x.shape)


def _flat_places(indices: Tensor, sizes: torch.Size) -> Tensor:
    """Tuples of indices as positions in those axes laid out in one."""
    places = torch.zeros(indices.shape[:-1], dtype=torch.long)
    for i, size in enumerate(sizes):
        places = places * size + _from_start(indices[..., i], size)
    return places


def _scattered(x: Tensor, axis: int, places: Tensor, updates: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return x.scatter(axis, places, updates)
    return x.scatter_reduce(axis, places, updates, _REDUCTIONS[reduction])


def _slice(node: Node, x: Tensor, *given: Tensor | None) -> Tensor:
    if given:
        starts, ends, axes, steps = (None if one is None else integers(one) for one in (*given, None, None)[:4])
    else:
        starts, ends, steps = node.integers("starts", []), node.integers("ends", []), None
        axes = node.integers("axes", []) if node.has("axes") else None
    starts, ends = starts or [], ends or []
    for start, end, axis, step in zip(
        starts, ends, axes or range(len(starts)), steps or [1] * len(starts), strict=True
    ):
        taken = range(*slice(start, end, step).indices(x.shape[axis]))
        if step > 0:
            x = x[(slice(None),) * (axis % x.dim()) + (slice(taken.start, max(taken.stop, taken.start), step),)]
        else:
            x = x.index_select(axis, torch.tensor(list(taken), dtype=torch.long))
    return x


def _top_k(node: Node, x: Tensor, count: Tensor | None = None) -> tuple[Tensor, Tensor]:
    k = node.integer("k", 1) if count is None else int(count)
    largest = node.flag("largest", default=True)
    values, places = torch.topk(x, k, node.integer("axis", -1), largest, node.flag("sorted", default=True))
    return values, places


def _one_hot(node: Node, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    size = int(depth)
    places = _from_start(indices, size)
    axis = node.integer("axis", -1)
    inside = ((places >= 0) & (places < size)).unsqueeze(-1)
    hot = (torch.arange(size) == places.unsqueeze(-1)) & inside
    return torch.where(hot.movedim(-1, axis), values[1], values[0])


OPERATORS: dict[str, Callable[..., Tensor | tuple[Tensor, ...]]] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "NonZero": lambda _node, x: x.nonzero().T,
    "OneHot": _one_hot,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "TopK": _top_k,
}
