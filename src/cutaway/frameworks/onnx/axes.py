"""Where the channels of each tensor lie, and of the inputs also how that was decided. Follows the graph, in order."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.frameworks.onnx.graph import Node, OnnxGraph
from cutaway.frameworks.onnx.shapes import Shapes

__all__ = ["IMAGE_RANK", "channel_axes", "input_axis"]

IMAGE_RANK = 4
_SECOND = frozenset(
    {
        *("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace", "GlobalAveragePool"),
        *("GlobalLpPool", "GlobalMaxPool", "GroupNormalization", "InstanceNormalization", "LRN", "LpPool", "MaxPool"),
        *("Resize", "SpaceToDepth", "Upsample"),
    }
)
_LAST = frozenset(
    {
        *("Attention", "Einsum", "Flatten", "GRU", "Gather", "Gemm", "LSTM", "LayerNormalization", "MatMul"),
        *("RMSNormalization", "RNN"),
    }
)
# Between an input and its first layer: what leaves the axes as they are.
_KEEPING = frozenset({"Add", "Cast", "Clip", "Div", "Identity", "Mul", "Pad", "Sub"})


def input_axis(graph: OnnxGraph, name: str, shapes: Shapes) -> tuple[int | None, str]:
    """Return the channel axis of an input and how it was decided."""
    rank = len(shapes.of(name) or ())
    if rank < IMAGE_RANK:
        return None, ""
    tensor = name
    while True:
        users = graph.users.get(tensor, [])
        for node in users:
            if _moves_channels_forward(node, rank, shapes):
                return -1, f"Input {name!r} has its channels last: node {node.label!r} moves them to axis 1."
            if node.kind in ("Conv", "ConvTranspose"):
                return 1, f"Input {name!r} has its channels on axis 1, where node {node.label!r} takes them."
        following = next((node for node in users if node.kind in _KEEPING), None)
        if following is None:
            break
        tensor = following.outputs[0]
    return 1, f"Input {name!r}: nothing in the graph says where its channels are; axis 1 is assumed, as ONNX has it."


def _moves_channels_forward(node: Node, rank: int, shapes: Shapes) -> bool:
    if node.kind == "Transpose":
        return node.integers("perm", []) == [0, rank - 1, *range(1, rank - 1)]
    if node.kind != "Reshape":
        return False
    # With a single channel, moving it is a reshape.
    before, after = shapes.of(node.inputs[0]), shapes.of(node.outputs[0])
    if before is None or after is None:
        return False
    return before[-1] == 1 and before[1] != 1 and after[1:] == (1, *before[1:-1])


def channel_axes(graph: OnnxGraph, shapes: Shapes) -> dict[str, int]:
    """Return the channel axis of every tensor that has one, as far as the graph tells."""
    axes: dict[str, int] = {}
    for name in graph.inputs:
        axis, _ = input_axis(graph, name, shapes)
        if axis is not None:
            axes[name] = axis
    for node in graph.nodes:
        axis = _axis_behind(node, axes, shapes)
        if axis is not None:
            axes.update((name, axis) for name in node.outputs if name)
    return axes


def _axis_behind(node: Node, axes: dict[str, int], shapes: Shapes) -> int | None:
    if node.kind in _SECOND:
        return 1
    if node.kind in _LAST:
        return -1
    before = next((axes[name] for name in node.inputs if name in axes), None)
    rule = _RULES.get(node.kind)
    return before if rule is None else rule(node, before, shapes)


def _transposed(node: Node, before: int | None, _shapes: Shapes) -> int | None:
    perm = node.integers("perm", [])
    if before is None or not perm:
        return None
    place = perm.index(before % len(perm))
    return -1 if place == len(perm) - 1 else place


def _reshaped(node: Node, before: int | None, shapes: Shapes) -> int | None:
    old, new = shapes.of(node.inputs[0]), shapes.of(node.outputs[0])
    kept = before == 1 and old and new and len(new) > 2 and len(old) > 1 and old[1] is not None and old[1] == new[1]
    return 1 if kept else -1


def _along_classes(node: Node, before: int | None, _shapes: Shapes) -> int | None:
    return node.integer("axis", -1) if node.opset >= 13 else before


_RULES: dict[str, Callable[[Node, int | None, Shapes], int | None]] = {
    "LogSoftmax": _along_classes,
    "Reshape": _reshaped,
    "Softmax": _along_classes,
    "Transpose": _transposed,
}
