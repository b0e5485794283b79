"""Says, without torch and without running anything, whether gradients can be taken through a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from onnx import TensorProto

from cutaway.frameworks.onnx.graph import Node, OnnxGraph
from cutaway.frameworks.onnx.operators import known

__all__ = ["INSTEAD", "LIMITS", "WITHOUT_TABLE", "obstacle_to"]

INSTEAD = "Predictions and activations work, and so do heat maps that need no gradients, such as occlusion."
# Run by the executor itself.
WITHOUT_TABLE = frozenset({"Constant", "If"})
_NUMBERS = frozenset(
    getattr(TensorProto, name)
    for name in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT8", "INT16", "INT32", "INT64", "UINT8", "BOOL")
)
_BROADCASTING = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")


def obstacle_to(graph: OnnxGraph, output: str) -> str:
    """Return what keeps gradients of an output from being taken, or nothing."""
    for node in _with_inner(graph.leading_to([output])):
        if not known(node.kind) and node.kind not in WITHOUT_TABLE:
            return f"Operator {node.kind!r} (node {node.label!r}) cannot be differentiated here. {INSTEAD}"
        reason = LIMITS[node.kind](node) if node.kind in LIMITS else ""
        if reason:
            return f"Operator {node.kind!r} (node {node.label!r}) {reason}. {INSTEAD}"
    return ""


def _with_inner(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for value in node.attributes.values():
            if isinstance(value, OnnxGraph):
                yield from _with_inner(list(value.nodes))


def _given(node: Node, *places: int) -> bool:
    return any(place < len(node.inputs) and node.inputs[place] for place in places)


def _used(node: Node, *places: int) -> bool:
    return any(place < len(node.outputs) and node.outputs[place] for place in places)


def _recurrent(node: Node, usual: tuple[str, ...]) -> str:
    chosen = node.texts("activations")
    if any(one not in (usual[i % len(usual)], "Relu" if node.kind == "RNN" else "") for i, one in enumerate(chosen)):
        return f"has the activations {', '.join(chosen)}; only {', '.join(usual)} are supported"
    if len(set(chosen)) > 1 and node.kind == "RNN":
        return "has different activations in its two directions"
    if node.has("clip") or node.flag("input_forget") or _given(node, 7):
        return "clips its gates, couples them or has peepholes, which is not supported"
    return ""


def _attention(node: Node) -> str:
    if _given(node, 4, 5, 6) or _used(node, 1, 2, 3):
        return "keeps keys and values of earlier calls, which is not supported"
    if node.integer("left_window_size", -1) >= 0 or node.integer("right_window_size", -1) >= 0:
        return "looks through a sliding window, which is not supported"
    return ""


def _resize(node: Node) -> str:
    if node.flag("antialias"):
        return "resizes with antialiasing, which is not supported"
    rule = node.text("coordinate_transformation_mode", "half_pixel")
    return "crops while it resizes, which is not supported" if rule == "tf_crop_and_resize" else ""


def _cast(node: Node) -> str:
    number = node.integer("to", 1)
    return "" if number in _NUMBERS else f"casts to {TensorProto.DataType.Name(number)}, which is not supported"


# What of an operator that is otherwise known is not supported.
LIMITS: Mapping[str, Callable[[Node], str]] = {
    "Attention": _attention,
    "BatchNormalization": lambda node: "is in training mode" if node.flag("training_mode") else "",
    "Cast": _cast,
    "DequantizeLinear": lambda node: "has blocks, which is not supported" if node.flag("block_size") else "",
    "GRU": lambda node: _recurrent(node, ("Sigmoid", "Tanh")),
    "LSTM": lambda node: _recurrent(node, ("Sigmoid", "Tanh", "Tanh")),
    "MaxPool": lambda node: "returns indices, which is not supported" if _used(node, 1) else "",
    "RNN": lambda node: _recurrent(node, ("Tanh",)),
    "Resize": _resize,
    **{
        kind: lambda node: "broadcasts as before operator set 7" if node.flag("broadcast") else ""
        for kind in _BROADCASTING
    },
}
