"""The layers of an exported graph: a module of the model it came from, or a node between modules, each by one node.

The exporter notes for every node which modules it lies in. The value of a module is that of its node whose result is
used outside of it. A module that is called again has its later values under `<name>:1` and so on, as in a live model.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from cutaway.frameworks.torch import answers
from cutaway.models.description import Layer

__all__ = ["NamedNode", "head_of", "layer_nodes", "shape_of"]

_HEADS = ("linear", "addmm", "conv1d", "conv2d", "conv3d", "convolution")
# With parameters, but no head: where one of these comes last, nothing says what goes into the head.
_OTHERS = ("batch_norm", "layer_norm", "group_norm", "embedding", "lstm", "gru", "rnn_tanh", "rnn_relu")


class NamedNode(NamedTuple):
    """A layer and the node whose value it has."""

    layer: Layer
    node: torch.fx.Node


def layer_nodes(graph: torch.fx.Graph, batch: Any) -> dict[str, NamedNode]:
    """Return the layers in order, by name. Only values whose first axis is the batch's are layers."""
    groups: dict[str, list[torch.fx.Node]] = {}
    kinds: dict[str, str] = {}
    free: list[torch.fx.Node] = []
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        stack = _modules_of(node)
        for name, kind in stack.items():
            groups.setdefault(name, []).append(node)
            kinds[name] = kind
        if not stack:
            free.append(node)
    found = {name: _value_of(nodes) for name, nodes in groups.items()}
    chosen = {name: (kinds[name], node) for name, node in found.items() if node is not None}
    for node in free:
        chosen.setdefault(node.name, (_operator(node), node))
    order = {node: position for position, node in enumerate(graph.nodes)}
    ordered = sorted(chosen.items(), key=lambda item: order[item[1][1]])
    kept = [(name, kind, node) for name, (kind, node) in ordered if _has_rows(node, batch)]
    axes = answers.channel_axes([(kind, shape_of(node)) for _, kind, node in kept])
    return {
        name: NamedNode(Layer(name, kind, shape_of(node), axis), node)
        for (name, kind, node), axis in zip(kept, axes, strict=True)
    }


def head_of(graph: torch.fx.Graph, batch: Any) -> tuple[str, NamedNode] | None:
    """Return what goes into the last linear layer or convolution, as a layer `<its module>.input`."""
    parametric = [node for node in graph.nodes if node.op == "call_function" and _operator(node) in _HEADS + _OTHERS]
    if not parametric or _operator(parametric[-1]) not in _HEADS:
        return None
    head = parametric[-1]
    kind = _operator(head)
    source = head.args[1 if kind == "addmm" else 0]
    if not isinstance(source, torch.fx.Node) or not _has_rows(source, batch):
        return None
    name = f"{next(reversed(_modules_of(head)), head.name)}.input"
    axis = 1 if kind.startswith("conv") else -1
    return name, NamedNode(Layer(name, f"Input of {kind}", shape_of(source), axis), source)


def shape_of(node: torch.fx.Node) -> tuple[int | None, ...]:
    """Return the shape of a node's value, with None where the exporter kept a size open."""
    return tuple(size if isinstance(size, int) else None for size in node.meta["val"].shape)


def _modules_of(node: torch.fx.Node) -> dict[str, str]:
    """Return the modules that a node lies in, from the outermost to the innermost, with their classes."""
    stack: Mapping[str, Any] = node.meta.get("nn_module_stack") or {}
    if not stack and node.target is operator.getitem and isinstance(node.args[0], torch.fx.Node):
        return _modules_of(node.args[0])
    modules = {}
    for key, (path, kind) in stack.items():
        if path and not path.startswith("_empty_nn_module_stack"):
            count = key.rpartition("@")[2] if "@" in key else ""
            name = str(kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
            modules[f"{path.partition('@')[0]}:{count}" if count.isdigit() else path] = name
    return modules


def _value_of(nodes: list[torch.fx.Node]) -> torch.fx.Node | None:
    inside = set(nodes)
    leaving = [
        node for node in nodes if isinstance(node.meta.get("val"), torch.Tensor) and not set(node.users) <= inside
    ]
    if not leaving:
        return None
    last = leaving[-1]
    if last.target is operator.getitem:
        # Of several results, as LSTM and attention have them, the first.
        return next(n for n in leaving if n.target is operator.getitem and n.args[0] is last.args[0])
    return last


def _operator(node: torch.fx.Node) -> str:
    packet = getattr(node.target, "overloadpacket", node.target)
    return str(getattr(packet, "__name__", packet)).rstrip("_")


def _has_rows(node: torch.fx.Node, batch: Any) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dim() > 0 and str(value.shape[0]) == str(batch)
