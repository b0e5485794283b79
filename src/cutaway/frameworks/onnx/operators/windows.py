"""What slides windows over one, two or three axes: convolutions, and pools, with every way of padding.

Windows of pools are padded first and then taken without padding, so that every rule of ONNX is arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]

_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}
_LARGEST = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGES = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


@dataclass(frozen=True)
class _SlidingWindows:
    """The windows of a node over an input with those spatial sizes, one entry for each spatial axis."""

    sizes: list[int]
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[tuple[int, int]]

    @classmethod
    def of(cls, node: Node, sizes: list[int], kernel: list[int]) -> _SlidingWindows:
        """Return the windows that the attributes of a node describe."""
        n = len(kernel)
        strides = node.integers("strides", [1] * n)
        dilations = node.integers("dilations", [1] * n)
        automatic = node.text("auto_pad", "NOTSET")
        if not automatic.startswith("SAME"):
            given = [0] * (2 * n) if automatic == "VALID" else node.integers("pads", [0] * (2 * n))
            return cls(sizes, kernel, strides, dilations, list(zip(given[:n], given[n:], strict=True)))
        pads = []
        for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
            total = max((-(-size // stride) - 1) * stride + (width - 1) * dilation + 1 - size, 0)
            low = total // 2 if automatic == "SAME_UPPER" else total - total // 2
            pads.append((low, total - low))
        return cls(sizes, kernel, strides, dilations, pads)

    def reaching(self, *, ceil: bool) -> list[tuple[int, int]]:
        """The padding with which just the windows fit that there are; negative where the end is not seen by any.

        Where their count is rounded up, a last one may reach out, but may not begin in the padding behind.
        """
        pads = []
        for axis, (size, stride, (low, high)) in enumerate(zip(self.sizes, self.strides, self.pads, strict=True)):
            covered = (self.kernel[axis] - 1) * self.dilations[axis] + 1
            room = size + low + high - covered
            steps = -(-room // stride) if ceil else room // stride
            if ceil and steps * stride >= size + low:
                steps -= 1
            pads.append((low, steps * stride + covered - size - low))
        return pads


def _padded(x: Tensor, pads: list[tuple[int, int]], value: float = 0.0) -> Tensor:
    """Return a tensor with its last axes padded, or cut where a number is negative."""
    flat = [amount for pair in reversed(pads) for amount in pair]
    return functional.pad(x, flat, value=value) if any(flat) else x


def _conv(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    windows = _SlidingWindows.of(node, list(x.shape[2:]), list(weight.shape[2:]))
    pads = [low for low, _ in windows.pads]
    if any(low != high for low, high in windows.pads):
        x, pads = _padded(x, windows.pads), [0] * len(pads)
    convolution: Callable[..., Tensor] = _CONVOLUTIONS[len(pads)]
    return convolution(x, weight, bias, windows.strides, pads, windows.dilations, node.integer("group", 1))


def _conv_transpose(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    n = weight.dim() - 2
    strides, dilations = node.integers("strides", [1] * n), node.integers("dilations", [1] * n)
    convolution: Callable[..., Tensor] = _TRANSPOSED[n]
    full = convolution(x, weight, None, strides, 0, 0, node.integer("group", 1), dilations)
    # All of it first; padding then is what is cut away, and output padding what is added at the end.
    full = _padded(full, [(-low, extra - high) for low, high, extra in _cuts(node, x, full, strides)])
    return full if bias is None else full + bias.reshape(-1, *[1] * n)


def _cuts(node: Node, x: Tensor, full: Tensor, strides: list[int]) -> list[tuple[int, int, int]]:
    n = len(strides)
    extra = node.integers("output_padding", [0] * n)
    automatic = node.text("auto_pad", "NOTSET")
    wanted = None
    if node.has("output_shape"):
        wanted = node.integers("output_shape", [])[-n:]
    elif automatic.startswith("SAME"):
        wanted = [size * stride for size, stride in zip(x.shape[2:], strides, strict=True)]
    if wanted is None:
        pads = [0] * (2 * n) if automatic == "VALID" else node.integers("pads", [0] * (2 * n))
        return list(zip(pads[:n], pads[n:], extra, strict=True))
    cuts = []
    for size, out, more in zip(full.shape[2:], wanted, extra, strict=True):
        total = size + more - out
        low = total // 2 if automatic == "SAME_UPPER" else total - total // 2
        low = max(low, 0)
        cuts.append((low, total - low, more))
    return cuts


def _windows(node: Node, x: Tensor) -> _SlidingWindows:
    return _SlidingWindows.of(node, list(x.shape[2:]), node.integers("kernel_shape", []))


def _max_pool(node: Node, x: Tensor) -> Tensor:
    windows = _windows(node, x)
    pads = windows.reaching(ceil=node.flag("ceil_mode"))
    pool: Callable[..., Tensor] = _LARGEST[len(pads)]
    # Less than every number, and what ONNX Runtime answers where a window sees nothing else.
    least = torch.finfo(x.dtype).min
    return pool(_padded(x, pads, least), windows.kernel, windows.strides, 0, windows.dilations)


def _average_pool(node: Node, x: Tensor) -> Tensor:
    windows = _windows(node, x)
    ceil = node.flag("ceil_mode")
    if not ceil and not any(map(any, windows.pads)) and set(windows.dilations) == {1}:
        pool: Callable[..., Tensor] = _AVERAGES[len(windows.kernel)]
        return pool(x, windows.kernel, windows.strides)
    counted = x.new_ones(1, 1, *x.shape[2:])
    if node.flag("count_include_pad"):
        counted = _padded(counted, windows.pads, 1.0)
    pads = windows.reaching(ceil=ceil)
    lacking = [size - len_ for size, len_ in zip(_sizes(x, pads), counted.shape[2:], strict=True)]
    before = [0 if node.flag("count_include_pad") else low for low, _ in pads]
    counted = _padded(counted, [(low, rest - low) for low, rest in zip(before, lacking, strict=True)])
    # Where a window sees padding only, the average is 0.
    return _sums(_padded(x, pads), windows) / _sums(counted, windows).clamp(min=1)


def _lp_pool(node: Node, x: Tensor) -> Tensor:
    windows = _windows(node, x)
    p = node.integer("p", 2)
    pads = windows.reaching(ceil=node.flag("ceil_mode"))
    return _sums(_padded(x.abs() ** p, pads), windows) ** (1 / p)


def _sizes(x: Tensor, pads: list[tuple[int, int]]) -> list[int]:
    return [size + low + high for size, (low, high) in zip(x.shape[2:], pads, strict=True)]


def _sums(x: Tensor, windows: _SlidingWindows) -> Tensor:
    convolution: Callable[..., Tensor] = _CONVOLUTIONS[len(windows.kernel)]
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
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "GlobalAveragePool": lambda _node, x: x.mean(_everywhere(x), keepdim=True),
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": lambda _node, x: x.amax(_everywhere(x), keepdim=True),
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
}
