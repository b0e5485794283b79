"""Operators that only move values, and those that make tensors out of shapes and numbers; negative padding cuts."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.torch_values import as_tensor, axes_of, integers

__all__ = ["OPERATORS"]


def _reshape(node: Node, x: Tensor, shape: Tensor | None = None) -> Tensor:
    sizes = node.integers("shape", []) if shape is None else integers(shape)
    if not node.flag("allowzero"):
        sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return x.reshape(sizes)


def _flatten(node: Node, x: Tensor) -> Tensor:
    axis = node.integer("axis", 1)
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _squeeze(node: Node, x: Tensor, given: Tensor | None = None) -> Tensor:
    axes = axes_of(node, given)
    return x.squeeze() if axes is None else x.squeeze(axes)


def _unsqueeze(node: Node, x: Tensor, given: Tensor | None = None) -> Tensor:
    axes = axes_of(node, given) or []
    rank = x.dim() + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        x = x.unsqueeze(axis)
    return x


def _expand(_node: Node, x: Tensor, shape: Tensor) -> Tensor:
    sizes = integers(shape)
    missing = len(sizes) - x.dim()
    # One of the two sizes may be 1, whichever it is.
    wanted = [1] * -missing + sizes
    own = [1] * missing + list(x.shape)
    return x.expand([a if b == 1 else b for a, b in zip(own, wanted, strict=True)])


def _split(node: Node, x: Tensor, given: Tensor | None = None) -> tuple[Tensor, ...]:
    axis = node.integer("axis", 0)
    if given is not None or node.has("split"):
        return torch.split(x, integers(given) if given is not None else node.integers("split", []), axis)
    # The last piece is smaller where the size does not divide.
    count = node.integer("num_outputs", len(node.outputs))
    each = -(-x.shape[axis] // count)
    return torch.split(x, [each] * (count - 1) + [x.shape[axis] - each * (count - 1)], axis)


def _depth_to_space(node: Node, x: Tensor) -> Tensor:
    block = node.integer("blocksize", 1)
    n, c, h, w = x.shape
    if node.text("mode", "DCR") == "DCR":
        split = x.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        split = x.reshape(n, c // block**2, block, block, h, w).permute(0, 1, 4, 2, 5, 3)
    return split.reshape(n, c // block**2, h * block, w * block)


def _space_to_depth(node: Node, x: Tensor) -> Tensor:
    block = node.integer("blocksize", 1)
    n, c, h, w = x.shape
    split = x.reshape(n, c, h // block, block, w // block, block).permute(0, 3, 5, 1, 2, 4)
    return split.reshape(n, c * block**2, h // block, w // block)


def _trilu(node: Node, x: Tensor, diagonal: Tensor | None = None) -> Tensor:
    k = 0 if diagonal is None else int(diagonal)
    return torch.triu(x, k) if node.flag("upper", default=True) else torch.tril(x, k)


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


def _constant_of_shape(node: Node, shape: Tensor) -> Tensor:
    value = as_tensor(node.attributes["value"]) if node.has("value") else torch.zeros(1)
    return value.reshape(()).expand(integers(shape)).clone()


def _range(_node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    return torch.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def _shape(node: Node, x: Tensor) -> Tensor:
    sizes = list(x.shape)
    end = node.integer("end", len(sizes))
    return torch.tensor(sizes[node.integer("start", 0) : end], dtype=torch.long)


OPERATORS: dict[str, Callable[..., Tensor | tuple[Tensor, ...]]] = {
    "Concat": lambda node, *xs: torch.cat(xs, node.integer("axis", 1)),
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": lambda _node, x: torch.tensor(x.numel()),
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": lambda _node, x, repeats: x.repeat(integers(repeats)),
    "Transpose": lambda node, x: x.permute(node.integers("perm", reversed(range(x.dim())))),
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
