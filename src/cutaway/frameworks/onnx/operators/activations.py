"""Activation functions, and the Softmax family as it was before and is since operator set 13."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]


def _leaky_relu(node: Node, x: Tensor) -> Tensor:
    return functional.leaky_relu(x, node.number("alpha", 0.01))


def _prelu(_node: Node, x: Tensor, slope: Tensor) -> Tensor:
    return torch.where(x >= 0, x, slope * x)


def _elu(node: Node, x: Tensor) -> Tensor:
    return functional.elu(x, node.number("alpha", 1.0))


def _selu(node: Node, x: Tensor) -> Tensor:
    alpha, gamma = node.number("alpha", 1.67326319217681884765625), node.number("gamma", 1.05070102214813232421875)
    return gamma * functional.elu(x, alpha)


def _celu(node: Node, x: Tensor) -> Tensor:
    return functional.celu(x, node.number("alpha", 1.0))


def _thresholded_relu(node: Node, x: Tensor) -> Tensor:
    return torch.where(x > node.number("alpha", 1.0), x, torch.zeros_like(x))


def _hard_sigmoid(node: Node, x: Tensor) -> Tensor:
    return torch.clamp(node.number("alpha", 0.2) * x + node.number("beta", 0.5), 0, 1)


def _hard_swish(_node: Node, x: Tensor) -> Tensor:
    return x * torch.clamp(x / 6 + 0.5, 0, 1)


def _swish(node: Node, x: Tensor) -> Tensor:
    return x * torch.sigmoid(node.number("alpha", 1.0) * x)


def _shrink(node: Node, x: Tensor) -> Tensor:
    bias, lambd = node.number("bias", 0.0), node.number("lambd", 0.5)
    return torch.where(x < -lambd, x + bias, torch.where(x > lambd, x - bias, torch.zeros_like(x)))


def _gelu(node: Node, x: Tensor) -> Tensor:
    return functional.gelu(x, approximate=node.text("approximate", "none"))


def _clip(node: Node, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    if node.has("min") or node.has("max"):
        return torch.clamp(x, node.attributes.get("min"), node.attributes.get("max"))
    # One after the other, since above a crossed pair of bounds the upper one decides.
    if low is not None:
        x = torch.maximum(x, low)
    return x if high is None else torch.minimum(x, high)


def _dropout(_node: Node, x: Tensor, *_settings: Tensor | None) -> tuple[Tensor, Tensor]:
    return x, torch.ones_like(x, dtype=torch.bool)


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


OPERATORS = {
    "Celu": _celu,
    "Clip": _clip,
    "Dropout": _dropout,
    "Elu": _elu,
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Hardmax": _hardmax,
    "LeakyRelu": _leaky_relu,
    "LogSoftmax": _log_softmax,
    "Mish": lambda _node, x: functional.mish(x),
    "PRelu": _prelu,
    "Relu": lambda _node, x: torch.relu(x),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": lambda _node, x: torch.sigmoid(x),
    "Softmax": _softmax,
    "Softplus": lambda _node, x: functional.softplus(x),
    "Softsign": lambda _node, x: functional.softsign(x),
    "Swish": _swish,
    "Tanh": lambda _node, x: torch.tanh(x),
    "ThresholdedRelu": _thresholded_relu,
}
