"""Operators that make tensors out of shapes and numbers, and that open quantised weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from cutaway.frameworks.onnx.dtypes import as_tensor
from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.operators.values import integers

__all__ = ["OPERATORS"]


def _constant_of_shape(node: Node, shape: Tensor) -> Tensor:
    value = as_tensor(node.attributes["value"]) if node.has("value") else torch.zeros(1)
    return value.reshape(()).expand(integers(shape)).clone()


def _range(_node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    return torch.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def _shape(node: Node, x: Tensor) -> Tensor:
    sizes = list(x.shape)
    end = node.integer("end", len(sizes))
    return torch.tensor(sizes[node.integer("start", 0) : end], dtype=torch.long)


def _dequantize(node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    if scale.dim() == 1:
        axis = node.integer("axis", 1) % x.dim()
        fits = [-1 if i == axis else 1 for i in range(x.dim())]
        scale, zero = scale.reshape(fits), None if zero is None else zero.reshape(fits)
    values = x.to(scale.dtype)
    return (values if zero is None else values - zero.to(scale.dtype)) * scale


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "ConstantOfShape": _constant_of_shape,
    "DequantizeLinear": _dequantize,
    "Range": _range,
    "Shape": _shape,
    "Size": lambda _node, x: torch.tensor(x.numel()),
}
