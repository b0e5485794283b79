"""Pools: windows that are padded first and then taken without padding, so that every rule of ONNX is arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.operators.windows import SlidingWindows, padded

__all__ = ["OPERATORS"]

_LARGEST = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGES = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}
_SUMS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}


def _windows(node: Node, x: Tensor) -> SlidingWindows:
    return SlidingWindows.of(node, list(x.shape[2:]), node.integers("kernel_shape", []))


def _max_pool(node: Node, x: Tensor) -> Tensor:
    windows = _windows(node, x)
    pads = windows.reaching(windows.counts(ceil=node.flag("ceil_mode")))
    pool: Callable[..., Tensor] = _LARGEST[len(pads)]
    # Less than every number, and what ONNX Runtime answers where a window sees nothing else.
    least = torch.finfo(x.dtype).min
    return pool(padded(x, pads, least), windows.kernel, windows.strides, 0, windows.dilations)


def _average_pool(node: Node, x: Tensor) -> Tensor:
    windows = _windows(node, x)
    ceil = node.flag("ceil_mode")
    if not ceil and not any(map(any, windows.pads)) and set(windows.dilations) == {1}:
        pool: Callable[..., Tensor] = _AVERAGES[len(windows.kernel)]
        return pool(x, windows.kernel, windows.strides)
    counted = x.new_ones(1, 1, *x.shape[2:])
    if node.flag("count_include_pad"):
        counted = padded(counted, windows.pads, 1.0)
    pads = windows.reaching(windows.counts(ceil=ceil))
    lacking = [size - len_ for size, len_ in zip(_sizes(x, pads), counted.shape[2:], strict=True)]
    before = [0 if node.flag("count_include_pad") else low for low, _ in pads]
    counted = padded(counted, [(low, rest - low) for low, rest in zip(before, lacking, strict=True)])
    # Where a window sees padding only, the average is 0.
    return _sums(padded(x, pads), windows) / _sums(counted, windows).clamp(min=1)


def _lp_pool(node: Node, x: Tensor) -> Tensor:
    windows = _windows(node, x)
    p = node.integer("p", 2)
    pads = windows.reaching(windows.counts(ceil=node.flag("ceil_mode")))
    return _sums(padded(x.abs() ** p, pads), windows) ** (1 / p)


def _sizes(x: Tensor, pads: list[tuple[int, int]]) -> list[int]:
    return [size + low + high for size, (low, high) in zip(x.shape[2:], pads, strict=True)]


def _sums(x: Tensor, windows: SlidingWindows) -> Tensor:
    n = len(windows.kernel)
    convolution: Callable[..., Tensor] = _SUMS[n]
    ones = x.new_ones(1, 1, *windows.kernel)
    sums = convolution(x.reshape(-1, 1, *x.shape[2:]), ones, None, windows.strides, 0, windows.dilations)
    return sums.reshape(*x.shape[:2], *sums.shape[2:])


def _everywhere(x: Tensor) -> tuple[int, ...]:
    return tuple(range(2, x.dim()))


def _global_lp_pool(node: Node, x: Tensor) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(x, node.integer("p", 2), _everywhere(x), keepdim=True)
    return norm


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": lambda _node, x: x.mean(_everywhere(x), keepdim=True),
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": lambda _node, x: x.amax(_everywhere(x), keepdim=True),
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
}
