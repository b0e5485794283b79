"""Makes the outputs of a graph arrays that can be asked for: tables of scikit-learn's classes, texts, sequences."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx
from onnx import TensorProto

from cutaway.frameworks.onnx.tensors import NUMBERS

__all__ = ["Outputs", "arrange_outputs"]

_FLOATS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16}


@dataclass
class Outputs:
    """What was done to the outputs of a graph, for people; `classes` has the labels of the columns of an output."""

    changed: bool = False
    notes: list[str] = field(default_factory=list)
    classes: dict[str, list[str]] = field(default_factory=dict)


def arrange_outputs(graph: onnx.GraphProto) -> Outputs:
    """Turn ZipMap outputs into arrays, leave out what is no array of numbers, and put numbers with gradients first."""
    done = Outputs()
    _open_maps(graph, done)
    kept = [value for value in graph.output if _is_numbers(value)]
    for value in graph.output:
        if not _is_numbers(value):
            done.notes.append(f"Output {value.name!r} is left out: it is {_kind(value)}, not an array of numbers.")
    floats = [value for value in kept if value.type.tensor_type.elem_type in _FLOATS]
    ordered = floats + [value for value in kept if value not in floats]
    if ordered and ordered[0].name != kept[0].name:
        done.notes.append(f"Output {ordered[0].name!r} comes first, since {kept[0].name!r} are whole numbers.")
    if done.notes:
        done.changed = True
        graph.ClearField("output")
        graph.output.extend(ordered)
    return done


def _open_maps(graph: onnx.GraphProto, done: Outputs) -> None:
    """skl2onnx answers probabilities as one dictionary a sample; what goes into that is the array."""
    for node in graph.node:
        if node.op_type != "ZipMap" or node.domain != "ai.onnx.ml":
            continue
        name = node.output[0]
        labels = [str(label) for attribute in node.attribute for label in attribute.ints]
        labels += [label.decode(errors="replace") for attribute in node.attribute for label in attribute.strings]
        done.classes[name] = labels
        node.op_type, node.domain = "Identity", ""
        node.ClearField("attribute")
        for value in graph.output:
            if value.name == name:
                value.CopyFrom(onnx.helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, len(labels) or None]))
        done.notes.append(f"Output {name!r} is an array with a column for each class instead of dictionaries.")


def _is_numbers(value: onnx.ValueInfoProto) -> bool:
    kind = value.type.WhichOneof("value")
    return kind is None or (kind == "tensor_type" and value.type.tensor_type.elem_type in NUMBERS)


def _kind(value: onnx.ValueInfoProto) -> str:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return f"a {kind.removesuffix('_type')}"
    number = value.type.tensor_type.elem_type
    return "text" if number == TensorProto.STRING else TensorProto.DataType.Name(number).lower()
