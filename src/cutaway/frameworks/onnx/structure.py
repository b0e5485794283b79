"""The shape of a graph that somebody else wrote: depth, size, names, order, operator sets. Looks, computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import onnx

from cutaway.errors import ModelFormatError

__all__ = ["MOST_NODES", "check_structure", "graphs_of", "inner_graphs", "put_in_order", "tensors_of"]

# Several times what the largest real exports have; ten times as many would keep ONNX Runtime busy for minutes.
MOST_NODES = 200_000
DEEPEST = 16
# What ONNX Runtime has built in. Everything else needs a library of somebody's, which is not loaded.
DOMAINS = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"}


def graphs_of(graphs: Iterable[onnx.GraphProto]) -> Iterator[tuple[onnx.GraphProto, int]]:
    """Yield graphs and every graph inside them, each with its depth."""
    waiting = [(graph, 0) for graph in graphs]
    while waiting:
        graph, depth = waiting.pop()
        yield graph, depth
        waiting.extend((inner, depth + 1) for inner in inner_graphs(graph.node))


def tensors_of(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield every tensor that a model holds: initializers and attributes, at every depth, also of functions."""
    outermost = [model.graph]
    nodes: list[onnx.NodeProto] = []
    attributes: list[onnx.AttributeProto] = []
    for function in model.functions:
        nodes.extend(function.node)
        # What its attributes are where a call does not say.
        attributes.extend(function.attribute_proto)
        outermost.extend([*inner_graphs(function.node), *_graphs_in(function.attribute_proto)])
    for graph, _ in graphs_of(outermost):
        yield from graph.initializer
        nodes.extend(graph.node)
    attributes.extend(attribute for node in nodes for attribute in node.attribute)
    for attribute in attributes:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
            if sparse.HasField("values"):
                yield from (sparse.values, sparse.indices)


def check_structure(model: onnx.ModelProto, path: Path) -> None:
    """Raise `ModelFormatError` for graphs that are too deep or large, name things twice, or need what is not here."""
    if not model.graph.node and not model.graph.output:
        raise ModelFormatError(str(path), "it has no graph.", hint="Is it an ONNX file?")
    _check_versions(model, path)
    count = sum(len(function.node) for function in model.functions)
    for graph, depth in graphs_of([model.graph]):
        count += len(graph.node)
        if depth > DEEPEST:
            raise ModelFormatError(str(path), f"its graphs are nested deeper than {DEEPEST} levels.")
        if count > MOST_NODES:
            raise ModelFormatError(str(path), f"it has more than {MOST_NODES} nodes.")
        if graph.sparse_initializer:
            name = graph.sparse_initializer[0].values.name
            raise ModelFormatError(str(path), f"its weights {name!r} are sparse, which is not supported.")
        _check_text(_names_of(graph), path)
        _check_names(graph, path)
        _check_domains(graph.node, model, path)
    for function in model.functions:
        _check_text([function.name, function.domain, *_names_in(function.node)], path)
        _check_domains(function.node, model, path)


def put_in_order(graph: onnx.GraphProto, path: Path) -> None:
    """Sort the nodes so that each comes after those it needs. Raises `ModelFormatError` where they go round."""
    makers = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    needs = [{makers[name] for name in _needed(node) if name in makers} for node in graph.node]
    if all(i > max(before, default=-1) for i, before in enumerate(needs)):
        return
    users: list[list[int]] = [[] for _ in needs]
    for i, before in enumerate(needs):
        for j in before:
            users[j].append(i)
    missing = [len(before) for before in needs]
    order = [i for i, count in enumerate(missing) if count == 0]
    for done in order:
        for user in users[done]:
            missing[user] -= 1
            if missing[user] == 0:
                order.append(user)
    if len(order) < len(needs):
        stuck = next(i for i, count in enumerate(missing) if count)
        raise ModelFormatError(str(path), f"its nodes go round in a circle, through {_called(graph.node[stuck])}.")
    nodes = [graph.node[i] for i in order]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    graph.ClearField("node")
    graph.node.extend(copies)


def inner_graphs(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """Yield the graphs that nodes hold as attributes."""
    for node in nodes:
        yield from _graphs_in(node.attribute)


def _graphs_in(attributes: Iterable[onnx.AttributeProto]) -> Iterator[onnx.GraphProto]:
    for attribute in attributes:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _needed(node: onnx.NodeProto) -> set[str]:
    """The tensors a node needs; what its inner graphs take from outside is among what they name."""
    names = set(node.input)
    for graph in inner_graphs([node]):
        own = {name for inner in graph.node for name in inner.output}
        for inner in graph.node:
            names |= _needed(inner) - own
        names |= {output.name for output in graph.output} - own
    return names


def _check_versions(model: onnx.ModelProto, path: Path) -> None:
    if model.ir_version > onnx.IR_VERSION:
        reason = f"it is of IR version {model.ir_version}, newer than the installed onnx knows ({onnx.IR_VERSION})."
        raise ModelFormatError(str(path), f"{reason} Run: pip install -U 'cutaway[onnx]'")
    newest = onnx.defs.onnx_opset_version()
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and not 1 <= opset.version <= newest:
            reason = f"it needs operator set {opset.version}; the installed onnx knows 1 to {newest}."
            raise ModelFormatError(str(path), f"{reason} Export it again with an older one, such as 18.")


def _names_of(graph: onnx.GraphProto) -> Iterator[Any]:
    yield graph.name
    yield from (tensor.name for tensor in graph.initializer)
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    yield from _names_in(graph.node)


def _names_in(nodes: Iterable[onnx.NodeProto]) -> Iterator[Any]:
    for node in nodes:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)


def _check_text(names: Iterable[Any], path: Path) -> None:
    """Names that are no UTF-8 come as bytes; ONNX Runtime stumbles over them."""
    for name in names:
        if not isinstance(name, str):
            raise ModelFormatError(str(path), f"one of its names is not text: {name[:60]!r}.")


def _check_names(graph: onnx.GraphProto, path: Path) -> None:
    made: set[str] = set()
    initializers = [tensor.name for tensor in graph.initializer]
    inputs = [value.name for value in graph.input]
    # Old files list their initializers among their inputs too.
    groups = [initializers, [name for name in inputs if name not in set(initializers)]]
    groups += [[name for name in node.output if name] for node in graph.node]
    for group in groups:
        for name in group:
            if name in made:
                raise ModelFormatError(str(path), f"two of its tensors have the name {name!r}.")
            made.add(name)


def _check_domains(nodes: Iterable[onnx.NodeProto], model: onnx.ModelProto, path: Path) -> None:
    own = {(function.domain, function.name) for function in model.functions}
    for node in nodes:
        if node.domain not in DOMAINS and (node.domain, node.op_type) not in own:
            reason = f"{_called(node)} is the custom operator {node.op_type!r} of the domain {node.domain!r}. "
            raise ModelFormatError(str(path), reason + "Libraries with such operators are not loaded.")


def _called(node: onnx.NodeProto) -> str:
    return f"node {node.name or (node.output[0] if node.output else node.op_type)!r}"
