"""Normalisations as in prediction: with stored statistics, or with those of each sample itself."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]


def _batch(node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    fits = (1, -1) + (1,) * (x.dim() - 2)
    factor = scale / torch.sqrt(variance + node.number("epsilon", 1e-5))
    return (x - mean.reshape(fits)) * factor.reshape(fits) + bias.reshape(fits)


def _layer(node: Node, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    axes = list(range(node.integer("axis", -1) % x.dim(), x.dim()))
    variance, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
    inverse = torch.rsqrt(variance + node.number("epsilon", 1e-5))
    y = (x - mean) * inverse * scale
    return y if bias is None else y + bias, mean, inverse


def _root_mean_square(node: Node, x: Tensor, scale: Tensor) -> Tensor:
    axes = list(range(node.integer("axis", -1) % x.dim(), x.dim()))
    squares = x.square().mean(axes, keepdim=True)
    return x * torch.rsqrt(squares + node.number("epsilon", 1e-5)) * scale


def _in_groups(x: Tensor, groups: int, epsilon: float) -> Tensor:
    grouped = x.reshape(x.shape[0], groups, -1)
    variance, mean = torch.var_mean(grouped, 2, correction=0, keepdim=True)
    return ((grouped - mean) * torch.rsqrt(variance + epsilon)).reshape(x.shape)


def _group(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    groups = node.integer("num_groups", 1)
    if node.opset < 21:
        # One number for each group then; one for each channel since.
        scale, bias = (one.repeat_interleave(x.shape[1] // groups) for one in (scale, bias))
    fits = (-1,) + (1,) * (x.dim() - 2)
    return _in_groups(x, groups, node.number("epsilon", 1e-5)) * scale.reshape(fits) + bias.reshape(fits)


def _instance(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    fits = (-1,) + (1,) * (x.dim() - 2)
    return _in_groups(x, x.shape[1], node.number("epsilon", 1e-5)) * scale.reshape(fits) + bias.reshape(fits)


def _lp(node: Node, x: Tensor) -> Tensor:
    norm = torch.linalg.vector_norm(x, node.integer("p", 2), node.integer("axis", -1), keepdim=True)
    return x / torch.where(norm == 0, torch.ones_like(norm), norm)


def _local_response(node: Node, x: Tensor) -> Tensor:
    size = node.integer("size", 1)
    before = (size - 1) // 2
    # The neighbours are channels: as the only spatial axis they can be pooled.
    squares = functional.pad(x.square().reshape(x.shape[0], 1, x.shape[1], -1), (0, 0, before, size - 1 - before))
    means = functional.avg_pool2d(squares, (size, 1), stride=1).reshape(x.shape)
    scale = node.number("bias", 1.0) + node.number("alpha", 1e-4) * means
    return x / scale ** node.number("beta", 0.75)


OPERATORS: dict[str, Callable[..., Tensor | tuple[Tensor, ...]]] = {
    "BatchNormalization": _batch,
    "GroupNormalization": _group,
    "InstanceNormalization": _instance,
    "LRN": _local_response,
    "LayerNormalization": _layer,
    "LpNormalization": _lp,
    "RMSNormalization": _root_mean_square,
}
