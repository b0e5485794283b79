"""Arithmetic, element by element, with numpy's broadcasting as ONNX has it since operator set 7."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor

from cutaway.frameworks.onnx.dtypes import torch_dtype
from cutaway.frameworks.onnx.graph import Node

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


def _modulo(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return torch.fmod(x, y) if node.flag("fmod") else torch.remainder(x, y)


def _mean(_node: Node, *xs: Tensor) -> Tensor:
    return reduce(torch.add, xs) / len(xs)


def _cast(node: Node, x: Tensor) -> Tensor:
    return x.to(torch_dtype(node.integer("to", 1)))


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "Abs": _of_one(torch.abs),
    "Acos": _of_one(torch.acos),
    "Acosh": _of_one(torch.acosh),
    "Add": _of_all(torch.add),
    "Asin": _of_one(torch.asin),
    "Asinh": _of_one(torch.asinh),
    "Atan": _of_one(torch.atan),
    "Atanh": _of_one(torch.atanh),
    "Cast": _cast,
    "CastLike": lambda _node, x, like: x.to(like.dtype),
    "Ceil": _of_one(torch.ceil),
    "Cos": _of_one(torch.cos),
    "Cosh": _of_one(torch.cosh),
    "Div": _divide,
    "Erf": _of_one(torch.erf),
    "Exp": _of_one(torch.exp),
    "Floor": _of_one(torch.floor),
    "Identity": lambda _node, x: x,
    "Log": _of_one(torch.log),
    "Max": _of_all(torch.maximum),
    "Mean": _mean,
    "Min": _of_all(torch.minimum),
    "Mod": _modulo,
    "Mul": _of_all(torch.mul),
    "Neg": _of_one(torch.neg),
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
}
