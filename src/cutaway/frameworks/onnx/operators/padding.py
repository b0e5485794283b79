"""Padding: a constant, the edge, a reflection or the other end; negative amounts cut."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.operators.values import integers

__all__ = ["OPERATORS"]


def _pad(
    node: Node, x: Tensor, given: Tensor | None = None, value: Tensor | None = None, axes: Tensor | None = None
) -> Tensor:
    amounts = node.integers("pads", []) if given is None else integers(given)
    n = len(amounts) // 2
    where = [axis % x.dim() for axis in (range(n) if axes is None else integers(axes))]
    pads = {axis: (amounts[i], amounts[i + n]) for i, axis in enumerate(where)}
    mode = node.text("mode", "constant")
    if mode == "constant":
        filled = node.number("value", 0.0) if value is None else value.item()
        flat = [amount for axis in reversed(range(x.dim())) for amount in pads.get(axis, (0, 0))]
        return functional.pad(x, flat, value=filled)
    for axis, (low, high) in pads.items():
        if low or high:
            x = x.index_select(axis, _places(x.shape[axis], low, high, mode))
    return x


def _places(size: int, low: int, high: int, mode: str) -> Tensor:
    places = torch.arange(-low, size + high)
    if mode == "edge":
        return places.clamp(0, size - 1)
    if mode == "wrap":
        return places % size
    period = max(2 * (size - 1), 1)
    places = places % period
    return torch.where(places < size, places, period - places)


OPERATORS: dict[str, Callable[..., Tensor]] = {"Pad": _pad}
