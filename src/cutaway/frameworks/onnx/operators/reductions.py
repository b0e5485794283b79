"""Sums, means and other reductions, over axes given as an attribute or as an input; running sums; arg max."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.torch_values import axes_of

__all__ = ["OPERATORS"]

Reduction = Callable[[Tensor, list[int]], Tensor]


def _over_axes(reduction: Reduction) -> Callable[..., Tensor]:
    """A reduction gets axes >= 0, at least one, and keeps them with size 1."""

    def operator(node: Node, x: Tensor, given: Tensor | None = None) -> Tensor:
        axes = [axis % max(x.dim(), 1) for axis in axes_of(node, given) or []]
        if not axes and node.flag("noop_with_empty_axes"):
            return reduction(x.unsqueeze(-1), [x.dim()]).squeeze(-1)
        if x.dim() == 0:
            return reduction(x.unsqueeze(0), [0]).squeeze(0)
        axes = axes or list(range(x.dim()))
        reduced = reduction(x, axes)
        return reduced if node.flag("keepdims", default=True) else reduced.squeeze(axes)

    return operator


def _product(x: Tensor, axes: list[int]) -> Tensor:
    for axis in axes:
        x = x.prod(axis, keepdim=True)
    return x


def _sum(x: Tensor, axes: list[int]) -> Tensor:
    return x.sum(axes, keepdim=True, dtype=x.dtype)


def _mean(x: Tensor, axes: list[int]) -> Tensor:
    if x.is_floating_point():
        return x.mean(axes, keepdim=True)
    return x.double().mean(axes, keepdim=True).to(x.dtype)


def _arg(function: Callable[..., Tensor]) -> Callable[[Node, Tensor], Tensor]:
    def operator(node: Node, x: Tensor) -> Tensor:
        axis, keep = node.integer("axis", 0), node.flag("keepdims", default=True)
        if not node.flag("select_last_index"):
            return function(x, axis, keepdim=keep)
        return x.shape[axis] - 1 - function(x.flip(axis), axis, keepdim=keep)

    return operator


def _running_sum(node: Node, x: Tensor, axis_: Tensor) -> Tensor:
    axis = int(axis_)
    backwards = node.flag("reverse")
    if backwards:
        x = x.flip(axis)
    sums = x.cumsum(axis, dtype=x.dtype)
    if node.flag("exclusive"):
        sums = sums - x
    return sums.flip(axis) if backwards else sums


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "ArgMax": _arg(torch.argmax),
    "ArgMin": _arg(torch.argmin),
    "CumSum": _running_sum,
    "ReduceL1": _over_axes(lambda x, axes: _sum(x.abs(), axes)),
    "ReduceL2": _over_axes(lambda x, axes: torch.linalg.vector_norm(x, 2, axes, keepdim=True)),
    "ReduceLogSum": _over_axes(lambda x, axes: _sum(x, axes).log()),
    "ReduceLogSumExp": _over_axes(lambda x, axes: torch.logsumexp(x, axes, keepdim=True)),
    "ReduceMax": _over_axes(lambda x, axes: torch.amax(x, axes, keepdim=True)),
    "ReduceMean": _over_axes(_mean),
    "ReduceMin": _over_axes(lambda x, axes: torch.amin(x, axes, keepdim=True)),
    "ReduceProd": _over_axes(_product),
    "ReduceSum": _over_axes(_sum),
    "ReduceSumSquare": _over_axes(lambda x, axes: _sum(x * x, axes)),
}
