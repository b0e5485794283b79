"""Makes a model of the bytes of an ONNX file, after looking at everything that could mislead a reader of it.

What leaves here is a `CheckedModel`: the graph with its small tensors, and the large weights as arrays. Nothing is read
from a file again, so what was checked is what is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, inliner

from cutaway.arrays import Array
from cutaway.errors import ModelFormatError, UnsafeModel
from cutaway.frameworks.onnx.reading import MOST_BYTES, bring_inside, is_external, read_whole
from cutaway.frameworks.onnx.structure import (
    DEEPEST,
    MOST_NODES,
    check_structure,
    graphs_of,
    inner_graphs,
    put_in_order,
    tensors_of,
)
from cutaway.frameworks.onnx.tensors import NUMBERS, array_of, check_content

__all__ = ["CheckedModel", "checked", "parsed", "read_checked"]

# A constant that a graph blows up by itself, beyond what any real model has.
MOST_MADE_BYTES = 2**32
# Smaller ones stay in the graph: shapes and axes are read from there.
_SMALLEST_WEIGHTS = 4096
_WEIGHTS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16}
_NO_FILE = "cutaway: given in memory"
# Functions of exporters call others, a few levels deep.
DEEPEST_CALL = 4 * DEEPEST
_Function = tuple[str, str, str]


@dataclass(frozen=True)
class CheckedModel:
    """A checked model: `proto` without its large weights, which `weights` has by name."""

    proto: onnx.ModelProto
    weights: dict[str, Array] = field(default_factory=dict)


def read_checked(path: Path, *, trust: bool) -> CheckedModel:
    """Read and check an ONNX file. Raises `ModelFormatError` or `UnsafeModel`, which say what is wrong with it."""
    return checked(parsed(read_whole(path), path), path, trust=trust)


def parsed(data: bytes, path: Path) -> onnx.ModelProto:
    """Return the message that the bytes are; too deep, cut short or something else is a `ModelFormatError`."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        reason = "it is not an ONNX file, it is cut short, or its graphs are nested too deep."
        raise ModelFormatError(str(path), reason) from error
    return model


def checked(model: onnx.ModelProto, path: Path, *, trust: bool) -> CheckedModel:
    """Check a parsed model, bring its external data in, put its functions in place and its nodes in order."""
    check_structure(model, path)
    external = []
    for tensor in tensors_of(model):
        if is_external(tensor):
            external.append(tensor)
        elif tensor.external_data:
            raise UnsafeModel(str(path), f"tensor {tensor.name!r} has values here and also names another file.")
        else:
            check_content(tensor, path)
    bring_inside(external, path, trust=trust)
    model = _with_functions_in_place(model, path)
    if not trust:
        _check_what_constants_become(model, path)
    for graph, _ in graphs_of([model.graph]):
        put_in_order(graph, path)
    return CheckedModel(model, _taken_out(model.graph))


def _with_functions_in_place(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Put the nodes of the file's own functions where they are called, so that each can be seen by its name."""
    if not model.functions:
        return model
    if model.ByteSize() > MOST_BYTES:
        raise ModelFormatError(str(path), "it has functions of its own and more than 2 GB of weights.")
    _check_functions(model, path)
    inlined: onnx.ModelProto = inliner.inline_local_functions(model)
    check_structure(inlined, path)
    return inlined


def _taken_out(graph: onnx.GraphProto) -> dict[str, Array]:
    weights = {}
    for tensor in graph.initializer:
        if tensor.data_type in _WEIGHTS and tensor.ByteSize() >= _SMALLEST_WEIGHTS:
            weights[tensor.name] = array_of(tensor)
            _leave_empty(tensor, weights[tensor.name].nbytes)
    return weights


def _leave_empty(tensor: onnx.TensorProto, size: int) -> None:
    """Leave only name, type and shape; ONNX Runtime is given the values of what is marked as external."""
    for content in ("raw_data", "float_data", "double_data", "int32_data"):
        tensor.ClearField(content)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", _NO_FILE), ("offset", "0"), ("length", str(size))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value


def _check_what_constants_become(model: onnx.ModelProto, path: Path) -> None:
    """Refuse constants that a few bytes would blow up: ONNX Runtime makes them while it loads a file."""
    for graph, _ in graphs_of([model.graph]):
        shapes = {tensor.name: tensor for tensor in graph.initializer}
        shapes |= {
            node.output[0]: _constant_of_node(node) for node in graph.node if node.op_type == "Constant" and node.output
        }
        for node in graph.node:
            tensor = (
                shapes.get(node.input[-1]) if node.op_type in ("ConstantOfShape", "Expand") and node.input else None
            )
            if tensor is None or tensor.data_type not in NUMBERS:
                continue
            sizes = [int(size) for size in array_of(tensor).ravel()]
            if math.prod(sizes) > MOST_MADE_BYTES // 4:
                name = node.name or node.op_type
                reason = f"its node {name!r} makes a tensor of shape {tuple(sizes)} out of one value."
                raise UnsafeModel(str(path), reason)


def _constant_of_node(node: onnx.NodeProto) -> onnx.TensorProto | None:
    for attribute in node.attribute:
        if attribute.name == "value":
            tensor: onnx.TensorProto = attribute.t
            return tensor
        if attribute.name == "value_ints":
            return onnx.helper.make_tensor("", TensorProto.INT64, [len(attribute.ints)], list(attribute.ints))
    return None


def _check_functions(model: onnx.ModelProto, path: Path) -> None:
    """Raise `ModelFormatError` where functions call themselves, or a few of them stand for far too many nodes."""
    bodies = {(one.domain, one.name, one.overload): one for one in model.functions}
    sizes: dict[_Function, int] = {}

    def size(nodes: Iterable[onnx.NodeProto], above: tuple[_Function, ...]) -> int:
        total = 0
        for node in _all_nodes(nodes):
            key = (node.domain, node.op_type, node.overload)
            if key not in bodies:
                total += 1
                continue
            if key in above or len(above) > DEEPEST_CALL:
                raise ModelFormatError(str(path), f"its function {node.op_type!r} calls itself, or others too deep.")
            if key not in sizes:
                sizes[key] = size(bodies[key].node, (*above, key))
            total += sizes[key]
        return total

    total = size(model.graph.node, ())
    if total > MOST_NODES:
        reason = f"its functions stand for {total} nodes, and at most {MOST_NODES} are taken."
        raise ModelFormatError(str(path), reason)


def _all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for graph in inner_graphs([node]):
            yield from _all_nodes(graph.node)
