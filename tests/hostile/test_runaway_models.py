"""Cases 16 and 17: models that never end, or want more memory than there is. Their own process pays for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import ModelCrashed, ModelError, ModelTimeout
from cutaway.models import Limits, Model, load

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

ROWS = np.ones((2, 4), np.float32)


def saved(path: Path, nodes: list, weights: tuple = ()) -> Path:
    """Write a model from `x` to `y`, both of four numbers a sample unless the nodes think otherwise."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


def endless(path: Path) -> Path:
    """A Loop without a count whose condition stays true, where no shape or constant tells so before it runs."""
    values = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
    ]
    outs = [
        helper.make_tensor_value_info("c2", TensorProto.BOOL, []),
        helper.make_tensor_value_info("v2", TensorProto.FLOAT, None),
    ]
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Tanh", ["v"], ["v2"])], "body", values, outs
    )
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("GreaterOrEqual", ["m", "m"], ["always"]),
        helper.make_node("Loop", ["", "always", "x"], ["y"], body=body),
    ]
    return saved(path, nodes)


def enormous(path: Path) -> Path:
    """A ConstantOfShape of 4e10 numbers, its shape computed from the batch: nothing in the file tells."""
    weights = (numpy_helper.from_array(np.array([40_000_000_000], np.float64), "many"),)
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["m64"], to=TensorProto.DOUBLE),
        helper.make_node("Mul", ["m64", "many"], ["count"]),
        helper.make_node("Cast", ["count"], ["size"], to=TensorProto.INT64),
        helper.make_node("ConstantOfShape", ["size"], ["big"]),
        helper.make_node("ReduceMean", ["big"], ["one"], keepdims=0),
        helper.make_node("Add", ["x", "one"], ["y"]),
    ]
    return saved(path, nodes, weights)


def stated(path: Path) -> Path:
    """The same with its size in the file, where a check can see it."""
    size = numpy_helper.from_array(np.array([40_000_000_000], np.int64), "size")
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["big"]),
        helper.make_node("ReduceMean", ["big"], ["one"], keepdims=0),
        helper.make_node("Add", ["x", "one"], ["y"]),
    ]
    return saved(path, nodes, (size,))


@pytest.fixture
def healthy(tmp_path: Path) -> Iterator[Model]:
    path = saved(tmp_path / "healthy.onnx", [helper.make_node("Relu", ["x"], ["y"])])
    with load(path, limits=Limits(threads=1)) as model:
        yield model


def resident_mb() -> float:
    text = Path("/proc/self/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def test_an_endless_loop_is_stopped_at_its_deadline_and_others_are_unharmed(tmp_path: Path, healthy: Model) -> None:
    with load(endless(tmp_path / "endless.onnx"), limits=Limits(seconds=2, threads=1)) as runaway:
        caught: list[ModelError] = []

        def ask() -> None:
            try:
                runaway.predict(ROWS)
            except ModelError as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        answered = 0
        while thread.is_alive():
            assert np.array_equal(healthy.predict(ROWS)["y"], ROWS)
            answered += 1
            time.sleep(0.01)
        thread.join()
        assert isinstance(caught[0], ModelTimeout)
        assert answered > 10
        assert np.array_equal(healthy.predict(ROWS)["y"], ROWS)


def test_memory_that_no_machine_has_is_an_error_within_the_limit(tmp_path: Path, healthy: Model) -> None:
    before = resident_mb()
    with load(enormous(tmp_path / "enormous.onnx"), limits=Limits(seconds=30, memory_mb=1000, threads=1)) as runaway:
        with pytest.raises(ModelError, match=r"1,000 MB; `Limits\(memory_mb=") as caught:
            runaway.predict(ROWS)
        assert not isinstance(caught.value, ModelTimeout | ModelCrashed)
        # The same model with a batch that asks for little.
        assert runaway.predict(ROWS * 1e-8)["y"].shape == (2, 4)
    assert np.array_equal(healthy.predict(ROWS)["y"], ROWS)
    assert resident_mb() - before < 200


def test_a_size_that_the_file_states_is_refused_or_fails_within_the_limit(tmp_path: Path) -> None:
    path = stated(tmp_path / "stated.onnx")

    def load_and_ask() -> None:
        with load(path, limits=Limits(seconds=30, memory_mb=1000, threads=1)) as model:
            model.predict(ROWS)

    with pytest.raises(ModelError) as caught:
        load_and_ask()
    assert not isinstance(caught.value, ModelTimeout)
