"""Every format through its limited process: the same answers as in this one, and custom layers from an entry file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import ModelError
from cutaway.models import Limits, Model, load

ROWS = np.random.default_rng(6).normal(size=(3, 4)).astype(np.float32)
# A busy machine needs its time to import TensorFlow; nothing here measures that.
LIMITS = Limits(load_seconds=280, seconds=200, threads=1)

# By the same library as `.keras`.
H5 = pytest.param("h5", marks=pytest.mark.slow)

ENTRY = """
import keras
from cutaway.dataset import tensorleap_custom_layer


@tensorleap_custom_layer("Scaled")
class Scaled(keras.layers.Layer):
    def call(self, inputs):
        return inputs * 3.0
"""


@pytest.fixture(scope="module")
def keras_model() -> object:
    keras = pytest.importorskip("keras")
    dense = keras.layers.Dense
    return keras.Sequential([keras.layers.Input((4,)), dense(5, activation="tanh", name="hidden"), dense(3)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module", params=["keras", H5, "saved_model", "onnx", "pt2"])
def path(request: pytest.FixtureRequest, folder: Path) -> Path:
    """A small model of each format."""
    target = folder / f"model.{request.param}"
    if request.param in ("onnx", "pt2"):
        _save_torch(target)
        return target
    model = request.getfixturevalue("keras_model")
    if request.param == "saved_model":
        pytest.importorskip("tensorflow")
        model.export(target, verbose=False)
    else:
        model.save(target)
    return target


def _save_torch(target: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    program = torch.export.export(module, (torch.ones(2, 4),), dynamic_shapes=({0: torch.export.Dim("n")},))
    if target.suffix == ".pt2":
        torch.export.save(program, target)
        return
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = [numpy_helper.from_array(value.detach().numpy(), name) for name, value in module.named_parameters()]
    nodes = [
        helper.make_node("Gemm", ["x", "0.weight", "0.bias"], ["h"], transB=1),
        helper.make_node("Tanh", ["h"], ["t"]),
        helper.make_node("Gemm", ["t", "2.weight", "2.bias"], ["y"], transB=1),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", n]) for name, n in (("x", 4), ("y", 3)))
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), target)


@pytest.fixture(scope="module")
def models(path: Path) -> Iterator[tuple[Model, Model]]:
    """The same file in this process and in one of its own."""
    with load(path, trust=True) as here, load(path, limits=LIMITS) as there:
        yield here, there


@pytest.mark.one_in(2)
def test_a_process_of_its_own_gives_the_same_answers(models: tuple[Model, Model]) -> None:
    here, there = models
    assert there.inputs == here.inputs
    assert there.outputs == here.outputs
    assert there.layers == here.layers
    wanted, names = here.predict(ROWS), [layer.name for layer in here.layers]
    for name, values in there.predict(ROWS).items():
        assert np.allclose(values, wanted[name], rtol=1e-5, atol=1e-6)
    outputs, layers = there.predict_with(ROWS, names)
    assert set(outputs) == set(wanted)
    for name, values in here.activations(ROWS, names).items():
        assert np.allclose(layers[name], values, rtol=1e-5, atol=1e-6)


@pytest.mark.one_in(2)
def test_gradients_cross_too(models: tuple[Model, Model]) -> None:
    here, there = models
    if here.description.differentiable:
        pytest.skip(here.description.differentiable)
    for asked in ({"target": 1}, {"loss": "MeanSquaredError", "labels": np.ones((3, 3), np.float32)}):
        ours, theirs = here.gradient(ROWS, **asked), there.gradient(ROWS, **asked)
        assert np.allclose(ours.gradient, theirs.gradient, rtol=1e-4, atol=1e-6)
        assert np.array_equal(theirs.activation, ROWS)


@pytest.mark.one_in(2)
def test_random_weights_are_drawn_in_the_process_alike(models: tuple[Model, Model]) -> None:
    here, there = models
    wanted = {name: values.copy() for name, values in there.predict(ROWS).items()}
    ours, theirs = here.with_random_weights(2), there.with_random_weights(2)
    for name, values in theirs.predict(ROWS).items():
        assert np.allclose(values, ours.predict(ROWS)[name], rtol=1e-5, atol=1e-6)
        assert not np.allclose(values, wanted[name], rtol=1e-3)
    theirs.close()
    assert all(np.array_equal(values, wanted[name]) for name, values in there.predict(ROWS).items())


def test_the_limits_hold_for_every_framework(models: tuple[Model, Model]) -> None:
    assert len(models[1].limits) == 4


def test_custom_layers_come_from_the_entry_file(folder: Path, keras_model: object) -> None:
    keras = pytest.importorskip("keras")

    class Scaled(keras.layers.Layer):  # type: ignore[name-defined, misc]
        def call(self, inputs: object) -> object:
            return inputs * 3.0

    target, entry = folder / "custom.keras", folder / "leap_binder.py"
    keras.Sequential([keras.layers.Input((4,)), Scaled(name="scaled")]).save(target)
    entry.write_text(ENTRY)
    with pytest.raises(ModelError, match="Scaled"):
        load(target, limits=LIMITS)
    with load(target, limits=LIMITS, entry_file=entry) as model:
        assert np.allclose(next(iter(model.predict(ROWS).values())), ROWS * 3)
