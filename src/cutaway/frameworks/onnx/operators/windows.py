"""The arithmetic of sliding windows that convolutions and pools share: strides, dilations, and how much to pad."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node

__all__ = ["SlidingWindows", "padded"]


@dataclass(frozen=True)
class SlidingWindows:
    """The windows of a node over an input with those spatial sizes, one entry for each spatial axis."""

    sizes: list[int]
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[tuple[int, int]]

    @classmethod
    def of(cls, node: Node, sizes: list[int], kernel: list[int]) -> SlidingWindows:
        """Return the windows that the attributes of a node describe."""
        n = len(kernel)
        strides = node.integers("strides", [1] * n)
        dilations = node.integers("dilations", [1] * n)
        return cls(sizes, kernel, strides, dilations, _pads(node, sizes, kernel, strides, dilations))

    def covered(self, axis: int) -> int:
        """How much of an axis one window spans."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1

    def counts(self, *, ceil: bool) -> list[int]:
        """How many windows fit; rounded up, a last one may reach out, but may not begin in the padding behind."""
        counts = []
        for axis, (size, stride, (low, high)) in enumerate(zip(self.sizes, self.strides, self.pads, strict=True)):
            room = size + low + high - self.covered(axis)
            count = (-(-room // stride) if ceil else room // stride) + 1
            counts.append(count - 1 if ceil and (count - 1) * stride >= size + low else count)
        return counts

    def reaching(self, counts: list[int]) -> list[tuple[int, int]]:
        """The padding with which exactly so many windows fit; negative where the end is not seen by any."""
        pads = []
        for axis, (size, stride, (low, _)) in enumerate(zip(self.sizes, self.strides, self.pads, strict=True)):
            pads.append((low, (counts[axis] - 1) * stride + self.covered(axis) - size - low))
        return pads


def padded(x: Tensor, pads: list[tuple[int, int]], value: float = 0.0) -> Tensor:
    """Return a tensor with its last axes padded, or cut where a number is negative."""
    flat = [amount for pair in reversed(pads) for amount in pair]
    return functional.pad(x, flat, value=value) if any(flat) else x


def _pads(
    node: Node, sizes: list[int], kernel: list[int], strides: list[int], dilations: list[int]
) -> list[tuple[int, int]]:
    automatic = node.text("auto_pad", "NOTSET")
    n = len(kernel)
    if not automatic.startswith("SAME"):
        given = [0] * (2 * n) if automatic == "VALID" else node.integers("pads", [0] * (2 * n))
        return list(zip(given[:n], given[n:], strict=True))
    pads = []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        total = max((-(-size // stride) - 1) * stride + (width - 1) * dilation + 1 - size, 0)
        low = total // 2 if automatic == "SAME_UPPER" else total - total // 2
        pads.append((low, total - low))
    return pads
