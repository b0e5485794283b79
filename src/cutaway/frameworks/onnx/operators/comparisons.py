"""Comparisons and logic; `Where` passes gradients to what it chose."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]


def _of_all(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda _node, *xs: reduce(function, xs)


def _is_inf(node: Node, x: Tensor) -> Tensor:
    found = torch.zeros_like(x, dtype=torch.bool)
    if node.flag("detect_positive", default=True):
        found = found | torch.isposinf(x)
    return found | torch.isneginf(x) if node.flag("detect_negative", default=True) else found


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "And": _of_all(torch.logical_and),
    "Equal": _of_all(torch.eq),
    "Greater": _of_all(torch.gt),
    "GreaterOrEqual": _of_all(torch.ge),
    "IsInf": _is_inf,
    "IsNaN": lambda _node, x: torch.isnan(x),
    "Less": _of_all(torch.lt),
    "LessOrEqual": _of_all(torch.le),
    "Not": lambda _node, x: torch.logical_not(x),
    "Or": _of_all(torch.logical_or),
    "Where": lambda _node, condition, x, y: torch.where(condition, x, y),
    "Xor": _of_all(torch.logical_xor),
}
