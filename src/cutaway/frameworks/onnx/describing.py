"""Describes a checked ONNX model as one value: inputs, outputs, layers, what goes into the head, what has gradients."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from cutaway.errors import ModelFormatError
from cutaway.frameworks.onnx.axes import channel_axes, input_axis
from cutaway.frameworks.onnx.checking import CheckedModel
from cutaway.frameworks.onnx.graph import OnnxGraph
from cutaway.frameworks.onnx.layers import find_layers
from cutaway.frameworks.onnx.rewriting import Outputs
from cutaway.frameworks.onnx.shapes import Run, Shapes
from cutaway.frameworks.onnx.support import obstacle_to
from cutaway.frameworks.onnx.tensors import NUMBERS
from cutaway.models.description import Layer, ModelDescription, TensorSpec

__all__ = ["OnnxDescription", "describe"]


@dataclass(frozen=True)
class OnnxDescription:
    """A description, the tensor behind each layer's name, and what keeps each output from having gradients."""

    description: ModelDescription
    tensors: dict[str, str]
    obstacles: dict[str, str]


def describe(loaded: CheckedModel, graph: OnnxGraph, outputs: Outputs, run: Run, path: Path) -> OnnxDescription:
    """Describe a model; `run` is asked for two small batches where the graph alone does not tell shapes."""
    shapes = Shapes(loaded.proto, graph.inputs)
    notes = list(outputs.notes)
    inputs = []
    declared = {value.name: value for value in loaded.proto.graph.input}
    for name in graph.inputs:
        axis, how = input_axis(graph, name, shapes)
        inputs.append(TensorSpec(name, shapes.of(name) or (None,), _dtype(declared[name], path), axis))
        notes += [how] if how else []
    layers, latent, left_out = find_layers(graph, shapes, run)
    axes = channel_axes(graph, shapes)
    shapes.probe([name for name in graph.outputs if shapes.of(name) is None], run)
    specs = tuple(_output(value, shapes, axes, path) for value in loaded.proto.graph.output)
    obstacles = {spec.name: _obstacle(graph, spec) for spec in specs}
    hopeless = bool(obstacles) and all(obstacles.values())
    # Which outputs have no gradients where others have; the description itself says it where none has.
    without = [] if hopeless else [reason for reason in obstacles.values() if reason]
    description = ModelDescription(
        format="onnx",
        inputs=tuple(inputs),
        outputs=specs,
        layers=tuple(Layer(one.name, one.kind, shapes.of(one.tensor), axes.get(one.tensor, -1)) for one in layers),
        latent_layer=latent,
        differentiable=next(iter(obstacles.values())) if hopeless else "",
        notes=(*notes, *_class_axes(specs, axes), *left_out, *without),
        about=_about_model(loaded, graph, outputs),
    )
    return OnnxDescription(description, {one.name: one.tensor for one in layers}, obstacles)


def _output(value: onnx.ValueInfoProto, shapes: Shapes, axes: dict[str, int], path: Path) -> TensorSpec:
    shape = shapes.of(value.name) or (None,)
    if shapes.fixed_rows is None and shape:
        # Some exporters leave the batch size of their example in the outputs.
        shape = (None, *shape[1:])
    axis = axes.get(value.name, 1) if len(shape) > 1 else None
    return TensorSpec(value.name, shape, _dtype(value, path), axis)


def _class_axes(specs: tuple[TensorSpec, ...], axes: dict[str, int]) -> list[str]:
    """How the class axis was decided, of outputs where there is more than one to choose from."""
    return [
        f"Output {spec.name!r}: axis {spec.channel_axis} is taken for its classes, "
        + ("as the layers before it have it." if spec.name in axes else "as ONNX has it; nothing says otherwise.")
        for spec in specs
        if len(spec.shape) > 2
    ]


def _dtype(value: onnx.ValueInfoProto, path: Path) -> str:
    number = value.type.tensor_type.elem_type
    if number not in NUMBERS:
        kind = onnx.TensorProto.DataType.Name(number).lower() if number else "not a tensor"
        raise ModelFormatError(
            str(path), f"{value.name!r} is {kind}; only arrays of numbers can be given and answered."
        )
    return NUMBERS[number]


def _obstacle(graph: OnnxGraph, spec: TensorSpec) -> str:
    if np.dtype(spec.dtype).kind != "f":
        return f"Output {spec.name!r} is {spec.dtype}: only floating-point numbers have gradients."
    return obstacle_to(graph, spec.name)


def _about_model(loaded: CheckedModel, graph: OnnxGraph, outputs: Outputs) -> dict[str, Any]:
    model = loaded.proto
    about: dict[str, Any] = {
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "opset": next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), None),
        "nodes": len(graph.nodes),
        "parameters": int(sum(values.size for values in graph.constants.values() if values.dtype.kind == "f")),
    }
    if outputs.classes:
        about["classes"] = outputs.classes
    return about
