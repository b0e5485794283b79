"""Opening costs no torch, a missing package is named, and where channels lie is said, not guessed in silence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cutaway import registry
from cutaway.errors import ModelNotFound
from cutaway.frameworks.onnx.files import open_onnx
from cutaway.models.backend import Backend


def written(path: Path, nodes: list[onnx.NodeProto], shape: list[Any], weights: dict[str, Any]) -> Path:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def images(tmp_path: Path, nodes: list[onnx.NodeProto], shape: list[Any], **weights: Any) -> Backend:
    return open_onnx(written(tmp_path / "model.onnx", nodes, shape, weights), trust=False, custom_layers={})


node = helper.make_node
KERNEL = np.ones((2, 3, 3, 3), np.float32)


def test_the_registry_opens_it(tmp_path: Path) -> None:
    path = written(tmp_path / "model.onnx", [node("Relu", ["x"], ["y"])], ["n", 4], {})
    backend = registry.load("model_formats", "onnx")(path, trust=False, custom_layers={})
    assert backend.description.format == "onnx"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"gone\.onnx"):
        open_onnx(tmp_path / "gone.onnx", trust=False, custom_layers={})


def in_a_process(code: str, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


def test_predictions_and_the_word_on_gradients_need_no_torch(tmp_path: Path) -> None:
    path = written(tmp_path / "model.onnx", [node("Relu", ["x"], ["y"])], ["n", 4], {})
    code = """
import sys, pathlib, numpy
from cutaway.frameworks.onnx.files import open_onnx
backend = open_onnx(pathlib.Path(sys.argv[1]), trust=False, custom_layers={})
backend.predict({"x": numpy.ones((2, 4), "float32")})
assert backend.description.differentiable == ""
print("torch" in sys.modules)
"""
    assert in_a_process(code, path).strip() == "False"


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_missing_package_is_named_with_the_command(tmp_path: Path, package: str) -> None:
    code = f"""
import sys, pathlib
sys.modules[{package!r}] = None
from cutaway.frameworks.onnx.files import open_onnx
open_onnx(pathlib.Path(sys.argv[1]), trust=False, custom_layers={{}})
"""
    assert "pip install 'cutaway[onnx]'" in in_a_process(code, tmp_path / "model.onnx")


class TestWhereChannelsLie:
    def test_a_convolution_takes_them_second(self, tmp_path: Path) -> None:
        backend = images(tmp_path, [node("Conv", ["x", "w"], ["y"], name="first")], ["n", 3, 8, 8], w=KERNEL)
        assert backend.description.inputs[0].channel_axis == 1
        assert any("'first' takes them" in note for note in backend.description.notes)

    def test_behind_scaling_a_transpose_still_tells(self, tmp_path: Path) -> None:
        nodes = [
            node("Sub", ["x", "mean"], ["centred"]),
            node("Transpose", ["centred"], ["turned"], name="turn", perm=[0, 3, 1, 2]),
            node("Conv", ["turned", "w"], ["y"]),
        ]
        backend = images(tmp_path, nodes, ["n", 8, 8, 3], w=KERNEL, mean=np.ones(3, np.float32))
        assert backend.description.inputs[0].channel_axis == -1
        assert any("channels last: node 'turn'" in note for note in backend.description.notes)

    def test_where_nothing_tells_the_assumption_is_said(self, tmp_path: Path) -> None:
        backend = images(tmp_path, [node("Relu", ["x"], ["y"])], ["n", 8, 8, 3])
        assert backend.description.inputs[0].channel_axis == 1
        assert any("assumed" in note for note in backend.description.notes)

    def test_rows_of_numbers_have_none(self, tmp_path: Path) -> None:
        backend = images(tmp_path, [node("Relu", ["x"], ["y"])], ["n", 8])
        assert backend.description.inputs[0].channel_axis is None
        assert backend.description.notes == ()


def test_sizes_of_zero_or_below_mean_any(tmp_path: Path) -> None:
    backend = images(tmp_path, [node("Relu", ["x"], ["y"])], [-1, 8])
    assert backend.description.inputs[0].shape == (None, 8)
    assert backend.predict({"x": np.ones((3, 8), np.float32)})["y"].shape == (3, 8)
