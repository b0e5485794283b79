"""Models of one operator, for comparing our operators with ONNX Runtime and with small differences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

from cutaway.frameworks.onnx.checking import CheckedModel
from cutaway.frameworks.onnx.executor import Executor
from cutaway.frameworks.onnx.graph import OnnxGraph

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One call of an operator: its inputs in order (None where one is left out), attributes, operator set."""

    kind: str
    inputs: tuple[Array | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = 18
    outputs: int = 1
    reference: bool = False  # ONNX Runtime lacks it: compared with onnx's own reference

    def __str__(self) -> str:
        settings = "-".join(f"{key}={value}" for key, value in self.attributes.items() if not hasattr(value, "dims"))
        shapes = "-".join("x".join(map(str, one.shape)) or "scalar" for one in self.inputs if one is not None)
        return f"{self.kind}{self.opset}-{shapes}-{settings}"[:110]


def model_of(case: Case) -> onnx.ModelProto:
    """Return the model; every input is an input, none a constant."""
    names = [f"x{i}" if one is not None else "" for i, one in enumerate(case.inputs)]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.kind, names, outputs, name="node", **case.attributes)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for name, one in zip(names, case.inputs, strict=True)
        if one is not None
    ]
    answers = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph([node], "one", values, answers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10)


def feeds_of(case: Case) -> dict[str, Array]:
    """Return the inputs by name."""
    return {f"x{i}": one for i, one in enumerate(case.inputs) if one is not None}


def expected(case: Case) -> list[Array]:
    """Return what ONNX Runtime answers, or onnx's reference where that has no such operator."""
    model = model_of(case)
    if case.reference:
        return list(ReferenceEvaluator(model).run(None, feeds_of(case)))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return list(onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds_of(case)))


def executor_of(case: Case) -> Executor:
    """Return our executor of the model."""
    return Executor(OnnxGraph.of(CheckedModel(model_of(case))))
