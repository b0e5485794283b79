"""A checked graph as plain values: nodes with typed attributes, who makes a tensor, who uses it, what leads to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import onnx
from onnx import helper

from cutaway.arrays import Array
from cutaway.frameworks.onnx.checking import CheckedModel
from cutaway.frameworks.onnx.tensors import array_of

__all__ = ["Node", "OnnxGraph"]

_STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class Node:
    """One operator call. `kind` has the domain before it where that is not ONNX's own; `opset` is its domain's."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    opset: int

    @property
    def label(self) -> str:
        """How a person finds the node: its name, or what it makes."""
        return self.name or next((name for name in self.outputs if name), self.kind)

    def has(self, name: str) -> bool:
        """Whether an attribute is set."""
        return name in self.attributes

    def number(self, name: str, default: float) -> float:
        """Return a float attribute."""
        return float(self.attributes.get(name, default))

    def integer(self, name: str, default: int) -> int:
        """Return an integer attribute."""
        return int(self.attributes.get(name, default))

    def integers(self, name: str, default: Iterable[int]) -> list[int]:
        """Return an attribute of integers."""
        return [int(value) for value in self.attributes.get(name, default)]

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return an attribute that is 0 or 1."""
        return bool(self.attributes.get(name, default))

    def text(self, name: str, default: str) -> str:
        """Return a text attribute."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else str(value)

    def texts(self, name: str) -> list[str]:
        """Return an attribute of texts, empty where it is not set."""
        return [value.decode() for value in self.attributes.get(name, ())]


@dataclass(frozen=True)
class OnnxGraph:
    """The nodes of a graph in order, its constants by name, and the names of its inputs and outputs."""

    nodes: tuple[Node, ...]
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @classmethod
    def of(cls, loaded: CheckedModel) -> OnnxGraph:
        """Return the graph of a checked model."""
        versions = {opset.domain: opset.version for opset in loaded.proto.opset_import}
        versions[""] = versions.get("", versions.get("ai.onnx", 1))
        return _graph(loaded.proto.graph, versions, loaded.weights)

    @cached_property
    def makers(self) -> Mapping[str, Node]:
        """The node that makes each tensor."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    @cached_property
    def users(self) -> Mapping[str, list[Node]]:
        """The nodes that take each tensor."""
        users: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in taken_by(node):
                users.setdefault(name, []).append(node)
        return users

    @cached_property
    def fixed(self) -> frozenset[str]:
        """The tensors that no input changes: constants, and what is made of constants only."""
        names = set(self.constants)
        for node in self.nodes:
            if all(name in names for name in taken_by(node)):
                names.update(node.outputs)
        return frozenset(names)

    def leading_to(self, names: Iterable[str]) -> list[Node]:
        """Return the nodes that some tensors depend on, in order."""
        wanted, needed = set(names), []
        for node in reversed(self.nodes):
            if wanted.intersection(node.outputs):
                needed.append(node)
                wanted.update(taken_by(node))
        return needed[::-1]


def taken_by(node: Node) -> set[str]:
    """Return the tensors that a node needs from where it stands, also those that only its inner graphs name."""
    names = {name for name in node.inputs if name}
    for value in node.attributes.values():
        if isinstance(value, OnnxGraph):
            own = {*value.makers, *value.constants, *value.inputs}
            names |= set(value.outputs) - own
            for inner in value.nodes:
                names |= taken_by(inner) - own
    return names


def _graph(graph: onnx.GraphProto, versions: Mapping[str, int], weights: Mapping[str, Array]) -> OnnxGraph:
    constants = {t.name: weights[t.name] if t.name in weights else array_of(t) for t in graph.initializer}
    nodes = tuple(_node(node, versions) for node in graph.node)
    inputs = tuple(value.name for value in graph.input if value.name not in constants)
    return OnnxGraph(nodes, constants, inputs, tuple(value.name for value in graph.output))


def _node(node: onnx.NodeProto, versions: Mapping[str, int]) -> Node:
    attributes = {attribute.name: _attribute(attribute, versions) for attribute in node.attribute}
    kind = node.op_type if node.domain in _STANDARD else f"{node.domain}.{node.op_type}"
    domain = "" if node.domain in _STANDARD else node.domain
    return Node(kind, node.name, tuple(node.input), tuple(node.output), attributes, versions.get(domain, 1))


def _attribute(attribute: onnx.AttributeProto, versions: Mapping[str, int]) -> Any:
    value = helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return array_of(value)
    if isinstance(value, onnx.GraphProto):
        return _graph(value, versions, {})
    return value
