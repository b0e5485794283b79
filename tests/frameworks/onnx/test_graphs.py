"""Graphs that exporters seldom write: choices, functions, other number types, operators without a gradient."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from cutaway.errors import GradientUnavailable, LayerUnavailable, MissingExtraError, ModelError, ModelFormatError
from cutaway.frameworks.onnx.files import open_onnx
from cutaway.frameworks.onnx.sessions import MOST_SESSIONS
from cutaway.models.backend import Backend, Question
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract, relative_error

RANDOM = np.random.default_rng(3)
W = RANDOM.normal(size=(4, 3)).astype(np.float32)
X = RANDOM.normal(size=(5, 4)).astype(np.float32)


def value(name: str, shape: list[Any] | None = None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def opened(
    tmp_path: Path,
    nodes: list[onnx.NodeProto],
    *,
    constants: dict[str, Any] | None = None,
    inputs: list[onnx.ValueInfoProto] | None = None,
    outputs: list[onnx.ValueInfoProto] | None = None,
    opset: int = 18,
    functions: list[onnx.FunctionProto] | None = None,
) -> Backend:
    graph = helper.make_graph(
        nodes,
        "g",
        inputs or [value("x", ["n", 4])],
        outputs or [value("y", ["n", 3])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {"w": W}).items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=functions or [])
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return open_onnx(path, trust=False, custom_layers={})


def node(kind: str, inputs: list[str], outputs: list[str], name: str = "", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, outputs, name=name, **attributes)


class TestAChoice:
    """`If` in a graph: the branch that the condition takes is the one that is differentiated."""

    @pytest.mark.parametrize("taken", [True, False])
    def test_its_gradient_is_that_of_the_branch(self, tmp_path: Path, taken: bool) -> None:
        inner = {
            "then": [node("MatMul", ["x", "w"], ["t"]), node("Tanh", ["t"], ["then_y"])],
            "else": [node("Constant", [], ["two"], value_float=2.0), node("Mul", ["p", "two"], ["else_y"])],
        }
        branches = {
            f"{name}_branch": helper.make_graph(nodes, name, [], [value(f"{name}_y")]) for name, nodes in inner.items()
        }
        nodes = [node("MatMul", ["x", "w"], ["p"], "product"), node("If", ["c"], ["y"], **branches)]
        backend = opened(tmp_path, nodes, constants={"w": W, "c": taken})
        assert backend.description.differentiable == ""
        gradient = backend.gradient({"x": X}, Question("y", "x", target=np.zeros(5, np.int64))).gradient
        slope = 1 - np.tanh(X @ W[:, :1]) ** 2 if taken else np.full((5, 1), 2.0)
        assert relative_error(gradient, slope * W[:, 0]) <= 1e-5


class TestAFunctionOfTheFile(BackendContract):
    """A function that the file defines is put in place, and its insides are layers."""

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        function = helper.make_function(
            "own",
            "Dense",
            ["a", "b"],
            ["c"],
            [node("MatMul", ["a", "b"], ["m"], "inside"), node("Sigmoid", ["m"], ["c"], "squash")],
            [helper.make_opsetid("", 18)],
        )
        nodes = [
            node("Tanh", ["x"], ["h"], "hidden"),
            helper.make_node("Dense", ["h", "square"], ["again"], domain="own", name="call1"),
            helper.make_node("Dense", ["again", "w"], ["y"], domain="own", name="call2"),
        ]
        return opened(tmp_path, nodes, constants={"w": W, "square": W @ W.T}, functions=[function])

    @pytest.fixture
    def batch(self) -> dict[str, Any]:
        return {"x": X}

    def test_its_layers_are_those_inside(self, backend: Backend) -> None:
        assert [layer.kind for layer in backend.description.layers] == [
            "Tanh",
            "MatMul",
            "Sigmoid",
            "MatMul",
            "Sigmoid",
        ]


class TestDoublePrecision(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        nodes = [node("MatMul", ["x", "w"], ["p"]), node("Tanh", ["p"], ["t"]), node("Add", ["t", "b"], ["y"])]
        double = TensorProto.DOUBLE
        return opened(
            tmp_path,
            nodes,
            constants={"w": W.astype(np.float64), "b": np.ones(3)},
            inputs=[value("x", ["n", 4], double)],
            outputs=[value("y", ["n", 3], double)],
        )

    @pytest.fixture
    def batch(self) -> dict[str, Any]:
        return {"x": X.astype(np.float64)}


def test_half_precision_has_gradients_of_single_precision(tmp_path: Path) -> None:
    half = TensorProto.FLOAT16
    nodes = [node("MatMul", ["x", "w"], ["p"], "product"), node("Tanh", ["p"], ["y"])]
    small = opened(
        tmp_path,
        nodes,
        constants={"w": W.astype(np.float16)},
        inputs=[value("x", ["n", 4], half)],
        outputs=[value("y", ["n", 3], half)],
    )
    assert small.description.inputs[0].dtype == "float16"
    gradient, activation = small.gradient({"x": X.astype(np.float16)}, Question("y", "x"))
    assert np.array_equal(activation, X.astype(np.float16))
    full = opened(tmp_path, nodes, constants={"w": W.astype(np.float16).astype(np.float32)})
    wanted = full.gradient({"x": X.astype(np.float16).astype(np.float32)}, Question("y", "x")).gradient
    assert relative_error(gradient, wanted) <= 1e-5


class TestWhatHasNoGradient:
    @pytest.mark.parametrize("kind", ["Det", "QuantizeLinear"])
    def test_the_operator_and_the_node_are_named_at_once(self, tmp_path: Path, kind: str) -> None:
        if kind == "Det":
            nodes = [node("Reshape", ["x", "s"], ["m"]), node("Det", ["m"], ["y"], "culprit")]
            backend = opened(tmp_path, nodes, constants={"s": np.array([-1, 2, 2])}, outputs=[value("y", ["n"])])
        else:
            nodes = [
                node("QuantizeLinear", ["x", "scale"], ["q"], "culprit"),
                node("DequantizeLinear", ["q", "scale"], ["y"]),
            ]
            backend = opened(tmp_path, nodes, constants={"scale": np.float32(0.1)}, outputs=[value("y", ["n", 4])])
        said = backend.description.differentiable
        assert kind in said
        assert "'culprit'" in said
        assert "occlusion" in said
        assert len(backend.predict({"x": X})["y"]) == 5
        with pytest.raises(GradientUnavailable, match=kind):
            backend.gradient({"x": X}, Question("y", "x"))
        with pytest.raises(GradientUnavailable, match=kind):
            Model(backend).gradient(X)

    def test_a_loop_is_named(self, tmp_path: Path) -> None:
        body = helper.make_graph(
            [node("Identity", ["c_in"], ["c_out"]), node("Tanh", ["v_in"], ["v_out"])],
            "body",
            [value("i", [], TensorProto.INT64), value("c_in", [], TensorProto.BOOL), value("v_in")],
            [value("c_out", [], TensorProto.BOOL), value("v_out")],
        )
        nodes = [node("Loop", ["trips", "", "x"], ["y"], "turns", body=body)]
        backend = opened(tmp_path, nodes, constants={"trips": np.array(3)}, outputs=[value("y", ["n", 4])])
        assert "'Loop' (node 'turns')" in backend.description.differentiable
        assert relative_error(backend.predict({"x": X})["y"], np.tanh(np.tanh(np.tanh(X)))) <= 1e-5

    def test_only_the_outputs_behind_it_are_without(self, tmp_path: Path) -> None:
        nodes = [
            node("MatMul", ["x", "w"], ["y"]),
            node("Reshape", ["x", "s"], ["m"]),
            node("Det", ["m"], ["z"], "culprit"),
        ]
        constants = {"w": W, "s": np.array([-1, 2, 2])}
        backend = opened(tmp_path, nodes, constants=constants, outputs=[value("y", ["n", 3]), value("z", ["n"])])
        assert backend.description.differentiable == ""
        assert any("'culprit'" in note for note in backend.description.notes)
        assert np.allclose(backend.gradient({"x": X}, Question("y", "x", np.zeros(5, np.int64))).gradient, W[:, 0])
        with pytest.raises(GradientUnavailable, match="culprit"):
            backend.gradient({"x": X}, Question("z", "x"))

    def test_a_setting_that_is_not_supported_is_named(self, tmp_path: Path) -> None:
        nodes = [node("Resize", ["x", "", "scales"], ["y"], "culprit", mode="linear", antialias=1)]
        image = [value("x", ["n", 1, 8, 8])]
        scales = {"scales": np.array([1, 1, 0.5, 0.5], np.float32)}
        backend = opened(tmp_path, nodes, constants=scales, inputs=image, outputs=[value("y", ["n", 1, 4, 4])])
        assert "antialiasing" in backend.description.differentiable

    def test_an_output_that_does_not_depend_on_it_says_so(self, tmp_path: Path) -> None:
        nodes = [node("MatMul", ["x", "w"], ["y"]), node("Tanh", ["x"], ["aside"], "aside")]
        backend = opened(tmp_path, nodes, outputs=[value("y", ["n", 3]), value("aside", ["n", 4])])
        with pytest.raises(GradientUnavailable, match="does not depend on 'aside'"):
            backend.gradient({"x": X}, Question("y", "aside"))

    def test_behind_whole_numbers_there_is_none(self, tmp_path: Path) -> None:
        nodes = [
            node("Cast", ["x"], ["i"], to=TensorProto.INT64),
            node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
            node("MatMul", ["f", "w"], ["y"]),
        ]
        with pytest.raises(GradientUnavailable, match="does not depend on 'x'"):
            opened(tmp_path, nodes).gradient({"x": X}, Question("y", "x"))

    def test_without_torch_the_missing_extra_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        backend = opened(tmp_path, [node("MatMul", ["x", "w"], ["y"])])
        monkeypatch.setitem(sys.modules, "torch", None)
        assert backend.predict({"x": X})["y"].shape == (5, 3)
        with pytest.raises(MissingExtraError, match=r"cutaway\[torch\]"):
            backend.gradient({"x": X}, Question("y", "x"))


def test_any_tensor_can_be_asked_for_by_its_own_name(tmp_path: Path) -> None:
    nodes = [node("Mul", ["x", "x"], ["square"]), node("MatMul", ["square", "w"], ["y"], "product")]
    backend = opened(tmp_path, nodes)
    assert "square" not in [layer.name for layer in backend.description.layers[1:]]
    assert relative_error(backend.activations({"x": X}, ["square"])["square"], X * X) <= 1e-6
    gradient, activation = backend.gradient({"x": X}, Question("y", "square", np.full(5, 1)))
    assert relative_error(activation, X * X) <= 1e-6
    assert np.allclose(gradient, W[:, 1])
    with pytest.raises(LayerUnavailable):
        backend.activations({"x": X}, ["w"])


def test_layers_without_a_name_are_called_by_their_output_and_no_name_comes_twice(tmp_path: Path) -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["first"]),
        node("Relu", ["first"], ["second"], "first"),
        node("Tanh", ["second"], ["third"], "second"),
        node("Sigmoid", ["third"], ["y"], "x"),
    ]
    names = [layer.name for layer in opened(tmp_path, nodes).description.layers]
    assert names == ["first", "second", "third", "y"]


def test_a_bias_belongs_to_its_product(tmp_path: Path) -> None:
    nodes = [
        node("Identity", ["b"], ["bias"]),
        node("MatMul", ["x", "w"], ["p"], "dense"),
        node("Add", ["bias", "p"], ["y"], "plus"),
    ]
    backend = opened(tmp_path, nodes, constants={"w": W, "b": np.ones(3, np.float32)})
    assert [layer.name for layer in backend.description.layers] == ["dense"]
    assert relative_error(backend.activations({"x": X}, ["dense"])["dense"], X @ W + 1) <= 1e-6


def test_a_shape_that_only_a_batch_tells_is_learned_from_two(tmp_path: Path) -> None:
    """(n, 4) becomes (2 n, 2) and back: the tensors between have their rows elsewhere and are no layers."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Slice", ["s", "zero", "one"], ["rows"]),
        node("Mul", ["rows", "two"], ["twice"]),
        node("Concat", ["twice", "two"], ["wide"], axis=0),
        node("Reshape", ["x", "wide"], ["folded"]),
        node("MatMul", ["folded", "v"], ["inner"], "inner"),
        node("Concat", ["rows", "four"], ["back"], axis=0),
        node("Reshape", ["inner", "back"], ["unfolded"]),
        node("MatMul", ["unfolded", "w"], ["y"], "outer"),
    ]
    constants = {
        "zero": np.array([0]),
        "one": np.array([1]),
        "two": np.array([2]),
        "four": np.array([4]),
        "v": W[:2, :2],
        "w": W,
    }
    backend = opened(tmp_path, nodes, constants=constants)
    assert [layer.name for layer in backend.description.layers] == ["unfolded", "outer"]
    assert backend.description.latent_layer == "unfolded"
    assert Model(backend).latent(X).shape == (5, 4)


def test_few_sessions_are_kept_and_the_threads_are_those_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTAWAY_MODEL_THREADS", "1")
    made = []
    usual = onnxruntime.InferenceSession

    def counting(model: bytes, options: onnxruntime.SessionOptions, **others: Any) -> onnxruntime.InferenceSession:
        made.append(options.intra_op_num_threads)
        return usual(model, options, **others)

    monkeypatch.setattr(onnxruntime, "InferenceSession", counting)
    nodes = [node("Tanh", ["x"], ["t0"])]
    nodes += [node("Tanh", [f"t{i}"], [f"t{i + 1}"]) for i in range(7)]
    nodes += [node("MatMul", ["t7", "w"], ["y"])]
    backend = opened(tmp_path, nodes)
    assert made == [1]
    for _ in range(3):
        backend.predict({"x": X})
        backend.activations({"x": X}, ["t1", "t2"])
    assert made == [1, 1]
    for i in range(MOST_SESSIONS + 1):
        backend.activations({"x": X}, [f"t{i}"])
    backend.activations({"x": X}, [f"t{MOST_SESSIONS}"])
    assert made == [1] * (2 + MOST_SESSIONS + 1)
    backend.activations({"x": X}, ["t1", "t2"])
    assert made == [1] * (2 + MOST_SESSIONS + 2)


def test_what_onnx_runtime_cannot_run_is_an_error_of_ours(tmp_path: Path) -> None:
    backend = opened(tmp_path, [node("MatMul", ["x", "w"], ["y"])])
    with pytest.raises(ModelError, match="could not run"):
        backend.predict({"x": X[:, :3]})


def test_an_input_of_text_is_refused(tmp_path: Path) -> None:
    nodes = [node("Identity", ["x"], ["y"])]
    text = TensorProto.STRING
    with pytest.raises(ModelFormatError, match="string"):
        opened(tmp_path, nodes, inputs=[value("x", ["n"], text)], outputs=[value("y", ["n"], text)])


def test_large_weights_are_shared_and_not_copied_into_each_session(tmp_path: Path) -> None:
    large = RANDOM.normal(size=(4, 3000)).astype(np.float32)
    backend = opened(tmp_path, [node("MatMul", ["x", "w"], ["y"], "p")], constants={"w": large})
    assert relative_error(backend.predict({"x": X})["y"], X @ large) <= 1e-5
    gradient = backend.gradient({"x": X}, Question("y", "x", np.full(5, 7))).gradient
    assert np.allclose(gradient, large[:, 7])
