"""Arithmetic and logic, element by element, with numpy's broadcasting as ONNX has it since operator set 7.

`Where` passes gradients to what it chose; quantised weights are opened.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.torch_values import torch_dtype

__all__ = ["OPERATORS"]


def _of_one(function: Callable[[Tensor], Tensor]) -> Callable[[Node, Tensor], Tensor]:
    return lambda _node, x: function(x)


def _of_all(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda _node, *xs: reduce(function, xs)


def _divide(_node: Node, x: Tensor, y: Tensor) -> Tensor:
    return torch.div(x, y) if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")


def _power(_node: Node, x: Tensor, y: Tensor) -> Tensor:
    # A plain number keeps the gradient finite where x is 0 and the exponent is constant.
    exponent = y.item() if y.numel() == 1 and not y.requires_grad and y.dim() <= x.dim() else y
    return torch.pow(x, exponent).to(x.dtype)


def _is_inf(node: Node, x: Tensor) -> Tensor:
    found = torch.zeros_like(x, dtype=torch.bool)
    if node.flag("detect_positive", default=True):
        found = found | torch.isposinf(x)
    return found | torch.isneginf(x) if node.flag("detect_negative", default=True) else found


def _dequantize(node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    if scale.dim() == 1:
        axis = node.integer("axis", 1) % x.dim()
        fits = [-1 if i == axis else 1 for i in range(x.dim())]
        scale, zero = scale.reshape(fits), None if zero is None else zero.reshape(fits)
    values = x.to(scale.dtype)
    return (values if zero is None else values - zero.to(scale.dtype)) * scale


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "Abs": _of_one(torch.abs),
    "Acos": _of_one(torch.acos),
    "Acosh": _of_one(torch.acosh),
    "Add": _of_all(torch.add),
    "And": _of_all(torch.logical_and),
    "Asin": _of_one(torch.asin),
    "Asinh": _of_one(torch.asinh),
    "Atan": _of_one(torch.atan),
    "Atanh": _of_one(torch.atanh),
    "Cast": lambda node, x: x.to(torch_dtype(node.integer("to", 1))),
    "CastLike": lambda _node, x, like: x.to(like.dtype),
    "Ceil": _of_one(torch.ceil),
    "Cos": _of_one(torch.cos),
    "Cosh": _of_one(torch.cosh),
    "DequantizeLinear": _dequantize,
    "Div": _divide,
    "Equal": _of_all(torch.eq),
    "Erf": _of_one(torch.erf),
    "Exp": _of_one(torch.exp),
    "Floor": _of_one(torch.floor),
    "Greater": _of_all(torch.gt),
    "GreaterOrEqual": _of_all(torch.ge),
    "Identity": lambda _node, x: x,
    "IsInf": _is_inf,
    "IsNaN": _of_one(torch.isnan),
    "Less": _of_all(torch.lt),
    "LessOrEqual": _of_all(torch.le),
    "Log": _of_one(torch.log),
    "Max": _of_all(torch.maximum),
    "Mean": lambda _node, *xs: reduce(torch.add, xs) / len(xs),
    "Min": _of_all(torch.minimum),
    "Mod": lambda node, x, y: torch.fmod(x, y) if node.flag("fmod") else torch.remainder(x, y),
    "Mul": _of_all(torch.mul),
    "Neg": _of_one(torch.neg),
    "Not": _of_one(torch.logical_not),
    "Or": _of_all(torch.logical_or),
    "Pow": _power,
    "Reciprocal": _of_one(torch.reciprocal),
    "Round": _of_one(torch.round),
    "Sign": _of_one(torch.sign),
    "Sin": _of_one(torch.sin),
    "Sinh": _of_one(torch.sinh),
    "Sqrt": _of_one(torch.sqrt),
    "Sub": _of_all(torch.sub),
    "Sum": _of_all(torch.add),
    "Tan": _of_one(torch.tan),
    "Where": lambda _node, condition, x, y: torch.where(condition, x, y),
    "Xor": _of_all(torch.logical_xor),
}
