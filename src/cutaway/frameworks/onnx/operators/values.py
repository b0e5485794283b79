"""Reads the small tensors that steer an operator: shapes, axes, counts."""

from __future__ import annotations

from torch import Tensor

from cutaway.frameworks.onnx.graph import Node

__all__ = ["axes_of", "integers"]


def integers(values: Tensor) -> list[int]:
    """Return a tensor as a flat list of integers."""
    return [int(value) for value in values.flatten().tolist()]


def axes_of(node: Node, given: Tensor | None) -> list[int] | None:
    """Return the axes of an operator that had them as an attribute and later has them as an input."""
    if given is not None:
        return integers(given)
    return node.integers("axes", []) if node.has("axes") else None
