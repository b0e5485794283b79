"""Convolutions over one, two or three axes, with every way of padding."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.operators.windows import SlidingWindows, padded

__all__ = ["OPERATORS"]

_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def _conv(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    windows = SlidingWindows.of(node, list(x.shape[2:]), list(weight.shape[2:]))
    pads = [low for low, _ in windows.pads]
    if any(low != high for low, high in windows.pads):
        x, pads = padded(x, windows.pads), [0] * len(pads)
    convolution: Callable[..., Tensor] = _CONVOLUTIONS[len(pads)]
    return convolution(x, weight, bias, windows.strides, pads, windows.dilations, node.integer("group", 1))


def _conv_transpose(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    n = weight.dim() - 2
    strides, dilations = node.integers("strides", [1] * n), node.integers("dilations", [1] * n)
    convolution: Callable[..., Tensor] = _TRANSPOSED[n]
    full = convolution(x, weight, None, strides, 0, 0, node.integer("group", 1), dilations)
    # All of it first; padding then is what is cut away, and output padding what is added at the end.
    full = padded(full, [(-low, extra - high) for low, high, extra in _cuts(node, x, full, strides)])
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


OPERATORS: dict[str, Callable[..., Tensor]] = {"Conv": _conv, "ConvTranspose": _conv_transpose}
