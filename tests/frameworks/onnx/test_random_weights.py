"""ONNX models with random weights: what sizes things stays, small and large weights change, for gradients as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cutaway.errors import AnalysisUnavailable
from cutaway.models import load

random = np.random.default_rng(0)
ROWS = random.normal(size=(3, 2, 4, 4)).astype(np.float32)


def session_of(nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], width: int) -> onnx.ModelProto:
    weights = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 4, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", width])
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_factors_of_a_resize_stay_and_all_weights_change(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    constants = {
        "kernel": random.normal(size=(2, 2, 1, 1)).astype(np.float32),
        "scales": np.array([1, 1, 2, 2], np.float32),
        "head": random.normal(size=(128, 2048)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "kernel"], ["c"]),
        helper.make_node("Resize", ["c", "", "scales"], ["r"], mode="nearest"),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("MatMul", ["f", "head"], ["y"]),
    ]
    onnx.save(session_of(nodes, constants, 2048), path)
    with load(path, trust=True) as model:
        other = model.with_random_weights(1)
        kernels = [one.activations(ROWS, ["c"])["c"] for one in (model, other)]
        assert not np.allclose(kernels[0], kernels[1])
        assert other.predict(ROWS)["y"].shape == (3, 2048)
        gradients = [one.gradient(ROWS, target=0).gradient for one in (model, other, model)]
        assert not np.allclose(gradients[0], gradients[1])
        assert np.array_equal(gradients[0], gradients[2])
        # ONNX Runtime and the gradients' executor see the same weights: a product is as large as its gradient says.
        slope = (gradients[1] * ROWS).sum(axis=(1, 2, 3))
        assert slope == pytest.approx(other.predict(ROWS)["y"][:, 0], rel=1e-3, abs=1e-3)


def test_a_graph_without_weights_says_so(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(session_of([helper.make_node("Flatten", ["x"], ["y"])], {}, 32), path)
    with load(path, trust=True) as model, pytest.raises(AnalysisUnavailable, match="no tensor of weights"):
        model.with_random_weights()
