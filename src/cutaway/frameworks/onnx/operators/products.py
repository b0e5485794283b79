"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]


def _gemm(node: Node, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    product = (a.T if node.flag("transA") else a) @ (b.T if node.flag("transB") else b)
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    if alpha != 1:
        product = alpha * product
    if c is None:
        return product
    return product + (c if beta == 1 else beta * c)


def _einsum(node: Node, *xs: Tensor) -> Tensor:
    result: Tensor = torch.einsum(node.text("equation", ""), *xs)
    return result


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": lambda _node, a, b: torch.matmul(a, b),
}
