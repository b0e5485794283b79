"""Runs a graph operator by operator on torch, so that autograd can follow it to any of its tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from cutaway.arrays import Array
from cutaway.errors import GradientUnavailable
from cutaway.frameworks.onnx.graph import Node, OnnxGraph, taken_by
from cutaway.frameworks.onnx.operators import find, known
from cutaway.frameworks.onnx.support import INSTEAD
from cutaway.frameworks.onnx.torch_values import as_tensor

__all__ = ["Executor"]

Values = dict[str, Tensor]
_Plan = list[tuple[Node, list[str]]]
# What torch and our operators raise for values that do not fit an operator.
_FAILURES = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError)


class Executor:
    """A graph on torch. What depends on constants only is computed once."""

    def __init__(self, graph: OnnxGraph) -> None:
        self._graph = graph
        self._constants: Values = {}
        for node in graph.nodes:
            if node.kind == "Constant":
                self._constants |= _constant(node)
        self._plans: dict[tuple[str, str], _Plan] = {}

    def run(self, feeds: Mapping[str, Array], output: str, leaf: str) -> tuple[Tensor, Tensor]:
        """Return an output and the tensor that it is differentiated by, which autograd begins at."""
        plan = self._plan(output, leaf)
        values: Values = {name: as_tensor(array) for name, array in feeds.items()}
        if leaf in values:
            values[leaf] = _as_leaf(values[leaf])
        for node, done in plan:
            values |= _results(node, self._inputs(node, values), self._outside(node, values))
            if leaf in node.outputs:
                values[leaf] = _as_leaf(values[leaf])
            for name in done:
                values.pop(name, None)
        return self._value_of(output, values), values[leaf]

    def _plan(self, output: str, leaf: str) -> _Plan:
        """The nodes that are run for a gradient, each with the tensors that nobody needs after it."""
        if (output, leaf) not in self._plans:
            nodes = self._graph.leading_to([output, leaf])
            self._fold(nodes)
            running = [node for node in nodes if not any(name in self._constants for name in node.outputs if name)]
            last = _last_uses(running, keep={output, leaf})
            self._plans[output, leaf] = [(node, last.get(i, [])) for i, node in enumerate(running)]
        return self._plans[output, leaf]

    def _fold(self, nodes: Sequence[Node]) -> None:
        """Compute what no input changes: shapes, masks, opened weights."""
        for node in nodes:
            if any(name in self._constants for name in node.outputs) or not taken_by(node):
                continue
            if all(name in self._constants or name in self._graph.constants for name in taken_by(node)):
                self._constants |= _results(node, self._inputs(node, {}), self._outside(node, {}))

    def _value_of(self, name: str, values: Mapping[str, Tensor]) -> Tensor:
        if name in values:
            return values[name]
        if name not in self._constants:
            self._constants[name] = as_tensor(self._graph.constants[name])
        return self._constants[name]

    def _inputs(self, node: Node, values: Mapping[str, Tensor]) -> list[Tensor | None]:
        return [self._value_of(name, values) if name else None for name in node.inputs]

    def _outside(self, node: Node, values: Mapping[str, Tensor]) -> Values:
        """What the inner graphs of a node take from where it stands."""
        if node.kind != "If":
            return {}
        return {name: self._value_of(name, values) for name in taken_by(node)}


def _results(node: Node, inputs: Sequence[Tensor | None], outside: Values) -> Values:
    try:
        if node.kind == "If":
            results = _branch(node, inputs, outside)
        elif known(node.kind):
            found = find(node.kind)(node, *inputs)
            results = list(found) if isinstance(found, tuple | list) else [found]
        else:
            raise GradientUnavailable(f"Operator {node.kind!r} (node {node.label!r}) is not supported.", hint=INSTEAD)
    except _FAILURES as error:
        message = f"Operator {node.kind!r} (node {node.label!r}) failed on torch: {error}."
        raise GradientUnavailable(message, hint=INSTEAD) from error
    return {name: value for name, value in zip(node.outputs, results, strict=False) if name}


def _branch(node: Node, inputs: Sequence[Tensor | None], outside: Values) -> list[Tensor]:
    condition = inputs[0]
    chosen: OnnxGraph = node.attributes["then_branch" if condition is not None and bool(condition) else "else_branch"]
    values = {**outside, **{name: as_tensor(array) for name, array in chosen.constants.items()}}
    for inner in chosen.nodes:
        if inner.kind == "Constant":
            values |= _constant(inner)
        else:
            values |= _results(inner, [values[name] if name else None for name in inner.inputs], values)
    return [values[name] for name in chosen.outputs]


def _constant(node: Node) -> Values:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if node.has(name):
            array = np.asarray(node.attributes[name])
            if name.startswith("value_float"):
                array = array.astype(np.float32)
            # Text and other types are nothing that torch has; who needs them says so.
            return {node.outputs[0]: as_tensor(array)} if array.dtype.kind in "biuf" else {}
    return {}


def _as_leaf(tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        dtype = str(tensor.dtype).removeprefix("torch.")
        raise GradientUnavailable(f"It holds {dtype}: only floating-point numbers have gradients.")
    return tensor.detach().requires_grad_()


def _last_uses(nodes: Sequence[Node], keep: set[str]) -> dict[int, list[str]]:
    """After which node each tensor is not needed any more."""
    last = {name: i for i, node in enumerate(nodes) for name in (*taken_by(node), *node.outputs) if name}
    uses: dict[int, list[str]] = {}
    for name, i in last.items():
        if name not in keep:
            uses.setdefault(i, []).append(name)
    return uses
