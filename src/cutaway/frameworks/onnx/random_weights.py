"""An ONNX model with its weights shuffled: the initializers of floating-point numbers that nodes compute with.

Numbers that say how large something is stay as they are, and so do those that stand in attributes, as trees have them.
"""

from __future__ import annotations

import onnx
from onnx import numpy_helper

from cutaway.frameworks.onnx.checking import CheckedModel
from cutaway.frameworks.onnx.graph import OnnxGraph
from cutaway.models.random_weights import shuffled_all

__all__ = ["randomised"]

# Their floating-point inputs beside the first are sizes, bounds and factors of sizes.
_SIZED = {"Resize", "Upsample", "Range", "OneHot", "Clip", "Pad", "RoiAlign", "NonMaxSuppression", "Cast"}


def randomised(loaded: CheckedModel, graph: OnnxGraph, seed: int) -> CheckedModel:
    """Return the model with shuffled weights. Raises `AnalysisUnavailable` where it has none that can be shuffled."""
    sizes = {name for node in graph.nodes if node.kind in _SIZED for name in node.inputs}
    weights = {
        name: values for name, values in graph.constants.items() if values.dtype.kind == "f" and name not in sizes
    }
    anew = shuffled_all(weights, seed)
    proto = onnx.ModelProto()
    proto.CopyFrom(loaded.proto)
    for tensor in proto.graph.initializer:
        if tensor.name in anew and tensor.name not in loaded.weights:
            tensor.CopyFrom(numpy_helper.from_array(anew[tensor.name], tensor.name))
    return CheckedModel(proto, {name: anew.get(name, values) for name, values in loaded.weights.items()})
