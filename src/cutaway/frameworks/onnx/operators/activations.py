"""Activation functions, and the Softmax family as it was before and is since operator set 13."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]


def _selu(node: Node, x: Tensor) -> Tensor:
    alpha, gamma = node.number("alpha", 1.67326319217681884765625), node.number("gamma", 1.05070102214813232421875)
    return gamma * functional.elu(x, alpha)


def _hard_sigmoid(node: Node, x: Tensor) -> Tensor:
    return torch.clamp(node.number("alpha", 0.2) * x + node.number("beta", 0.5), 0, 1)


def _shrink(node: Node, x: Tensor) -> Tensor:
    bias, lambd = node.number("bias", 0.0), node.number("lambd", 0.5)
    return torch.where(x < -lambd, x + bias, torch.where(x > lambd, x - bias, torch.zeros_like(x)))


def _clip(node: Node, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    if node.has("min") or node.has("max"):
        return torch.clamp(x, node.attributes.get("min"), node.attributes.get("max"))
    # One after the other, since above a crossed pair of bounds the upper one decides.
    if low is not None:
        x = torch.maximum(x, low)
    return x if high is None else torch.minimum(x, high)


def _softmax(node: Node, x: Tensor) -> Tensor:
    flat, axis = _before_13(node, x)
    return functional.softmax(flat, axis).reshape(x.shape)


def _log_softmax(node: Node, x: Tensor) -> Tensor:
    flat, axis = _before_13(node, x)
    return functional.log_softmax(flat, axis).reshape(x.shape)


def _hardmax(node: Node, x: Tensor) -> Tensor:
    flat, axis = _before_13(node, x)
    largest = flat.argmax(axis, keepdim=True)
    return torch.zeros_like(flat).scatter(axis, largest, 1).reshape(x.shape)


def _before_13(node: Node, x: Tensor) -> tuple[Tensor, int]:
    """Until operator set 12 everything from the axis on was one axis."""
    if node.opset >= 13:
        return x, node.integer("axis", -1)
    axis = node.integer("axis", 1) % max(x.dim(), 1)
    return x.reshape(*x.shape[:axis], -1), -1


OPERATORS: dict[str, Callable[..., Tensor | tuple[Tensor, ...]]] = {
    "Celu": lambda node, x: functional.celu(x, node.number("alpha", 1.0)),
    "Clip": _clip,
    "Dropout": lambda _node, x, *_settings: (x, torch.ones_like(x, dtype=torch.bool)),
    "Elu": lambda node, x: functional.elu(x, node.number("alpha", 1.0)),
    "Gelu": lambda node, x: functional.gelu(x, approximate=node.text("approximate", "none")),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda _node, x: x * torch.clamp(x / 6 + 0.5, 0, 1),
    "Hardmax": _hardmax,
    "LeakyRelu": lambda node, x: functional.leaky_relu(x, node.number("alpha", 0.01)),
    "LogSoftmax": _log_softmax,
    "Mish": lambda _node, x: functional.mish(x),
    "PRelu": lambda _node, x, slope: torch.where(x >= 0, x, slope * x),
    "Relu": lambda _node, x: torch.relu(x),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": lambda _node, x: torch.sigmoid(x),
    "Softmax": _softmax,
    "Softplus": lambda _node, x: functional.softplus(x),
    "Softsign": lambda _node, x: functional.softsign(x),
    "Swish": lambda node, x: x * torch.sigmoid(node.number("alpha", 1.0) * x),
    "Tanh": lambda _node, x: torch.tanh(x),
    "ThresholdedRelu": lambda node, x: torch.where(x > node.number("alpha", 1.0), x, torch.zeros_like(x)),
}
