"""Which tensors of a graph a person would call a layer, under which name, and which one goes into the head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cutaway.frameworks.onnx.graph import Node, OnnxGraph
from cutaway.frameworks.onnx.shapes import Run, Shapes

__all__ = ["LayerTensor", "find_layers"]

_RECURRENT = ("GRU", "LSTM", "RNN")
_WEIGHTED = ("Gemm", "MatMul")
_LAYERS = frozenset(
    {
        *_RECURRENT, *_WEIGHTED,
        "Attention", "AveragePool", "BatchNormalization", "Celu", "Clip", "Concat", "Conv", "ConvTranspose", "Elu",
        "Flatten", "Gelu", "GlobalAveragePool", "GlobalMaxPool", "GroupNormalization", "HardSigmoid", "HardSwish",
        "InstanceNormalization", "LRN", "LayerNormalization", "LeakyRelu", "LogSoftmax", "MaxPool", "Mish", "PRelu",
        "RMSNormalization", "Relu", "Resize", "Selu", "Sigmoid", "Softmax", "Softplus", "Softsign", "Swish", "Tanh",
        "Upsample",
    }
)  # fmt: skip
# What only moves values: behind a recurrent layer these bring the samples to the first axis.
_MOVING = frozenset({"Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose"})


@dataclass(frozen=True)
class LayerTensor:
    """A layer: its name, the operator, and the tensor that has its values."""

    name: str
    kind: str
    tensor: str


def find_layers(graph: OnnxGraph, shapes: Shapes, run: Run) -> tuple[list[LayerTensor], str | None, list[str]]:
    """Return the layers in order, the name of the one that goes into the head, and notes on what was left out."""
    head = _into_head(graph)
    candidates = [(node, _tensors(graph, node)) for node in graph.nodes if _is_layer(graph, node)]
    if head is not None and head in graph.makers:
        candidates.append((graph.makers[head], [head]))
    asked = dict.fromkeys(tensor for _, tensors in candidates for tensor in tensors)
    unknown = [tensor for tensor in asked if shapes.has_rows_first(tensor) is None]
    reason = shapes.probe(unknown, run)
    place = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}
    layers: dict[str, LayerTensor] = {}
    taken = set(graph.inputs)
    for node, tensors in candidates:
        tensor = next((tensor for tensor in tensors if shapes.has_rows_first(tensor)), None)
        if tensor is not None and tensor not in layers:
            name = next(name for name in _names(node, tensor) if name not in taken)
            taken.add(name)
            layers[tensor] = LayerTensor(name, node.kind, tensor)
    in_order = sorted(layers.values(), key=lambda layer: place[layer.tensor])
    return in_order, layers[head].name if head in layers else None, _notes(unknown, shapes, reason)


def _is_layer(graph: OnnxGraph, node: Node) -> bool:
    if graph.fixed.issuperset(node.outputs):
        return False
    if node.kind in _LAYERS:
        return any(node.outputs)
    if node.kind == "Gather":
        # An embedding: rows of a table of weights, picked by numbers that are not constant.
        table = graph.constants.get(node.inputs[0])
        return table is not None and table.dtype.kind == "f" and table.ndim == 2 and not _constant(graph, node, 1)
    return node.kind == "Add" and not _constant(graph, node, 0) and not _constant(graph, node, 1)


def _constant(graph: OnnxGraph, node: Node, place: int) -> bool:
    return node.inputs[place] in graph.fixed


def _tensors(graph: OnnxGraph, node: Node) -> list[str]:
    """The tensors that may stand for a layer, the best first."""
    first = next(name for name in node.outputs if name)
    if node.kind in _RECURRENT:
        return list(_moved(graph, [name for name in node.outputs if name]))
    if node.kind == "MatMul":
        users = graph.users.get(first, [])
        if (
            len(users) == 1
            and users[0].kind == "Add"
            and (_constant(graph, users[0], 0) or _constant(graph, users[0], 1))
        ):
            return [users[0].outputs[0]]
    return [first]


def _moved(graph: OnnxGraph, tensors: list[str]) -> Iterator[str]:
    seen: set[str] = set()
    while tensors:
        tensor = tensors.pop(0)
        if tensor in seen:
            continue
        seen.add(tensor)
        yield tensor
        following = [node for node in graph.users.get(tensor, []) if node.kind in _MOVING]
        tensors += [name for node in following for name in node.outputs if name]


def _into_head(graph: OnnxGraph) -> str | None:
    """The tensor that goes into the last dense layer before the first output; else into the last convolution."""
    for kinds in (_WEIGHTED, ("Conv", "ConvTranspose")):
        for node in reversed(graph.leading_to(graph.outputs[:1])):
            if node.kind in kinds and any(_constant(graph, node, place) for place in range(1, len(node.inputs))):
                return node.inputs[0]
    return None


def _names(node: Node, tensor: str) -> Iterator[str]:
    yield from (name for name in (node.name, tensor) if name)
    number = 2
    while True:
        yield f"{node.label}_{number}"
        number += 1


def _notes(unknown: list[str], shapes: Shapes, reason: str) -> list[str]:
    lost = [tensor for tensor in unknown if shapes.has_rows_first(tensor) is None]
    if not lost:
        return []
    why = f" A try with zeros failed: {reason}" if reason else ""
    return [f"{len(lost)} tensors are not listed as layers, since the axis of their samples is not known.{why}"]
