"""`.h5` files that Keras 2 wrote (tests/data/keras2), as models: the same answers as Keras 2 gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("keras")

from cutaway.errors import ModelFormatError
from cutaway.frameworks.keras.files import open_h5
from cutaway.frameworks.keras.keras2 import is_of_keras_2, translated
from cutaway.models.backend import Arrays, Backend
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract
from tests.frameworks.keras.making import batch_for

FILES = Path(__file__).parents[2] / "data" / "keras2"
NAMES = ("mlp", "cnn_batch_of_one", "lstm", "attention", "two_inputs")


@pytest.fixture(scope="module")
def answers() -> Any:
    return np.load(FILES / "answers.npz")


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_those_that_keras_2_gave(name: str, answers: Any) -> None:
    model = Model(open_h5(FILES / f"{name}.h5", trust=False, custom_layers={}))
    batch = [answers[key] for key in answers if key.startswith(f"{name}/input/")]
    for i, got in enumerate(model.predict(batch).values()):
        wanted = answers[f"{name}/output/{i}"]
        assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()
    if f"{name}/gradient" in answers:
        wanted = answers[f"{name}/gradient"]
        assert np.abs(model.gradient(batch, target=0).gradient - wanted).max() <= 1e-4 * np.abs(wanted).max()


class TestMlp(BackendContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        return open_h5(FILES / "mlp.h5", trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


class TestTwoInputs(BackendContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        return open_h5(FILES / "two_inputs.h5", trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


@pytest.mark.slow
class TestLstm(BackendContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        return open_h5(FILES / "lstm.h5", trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


def test_a_fixed_batch_of_one_takes_any_number_of_samples(answers: Any) -> None:
    model = Model(open_h5(FILES / "cnn_batch_of_one.h5", trust=False, custom_layers={}))
    images = answers["cnn_batch_of_one/input/conv_input"]
    assert model.inputs[0].shape == (1, 28, 28, 1)
    assert model.latent(images).shape == (3, 4)
    assert model.activations(images, ["conv"])["conv"].shape == (3, 13, 13, 4)


def test_the_training_that_a_file_carried_is_said() -> None:
    training = open_h5(FILES / "two_inputs.h5", trust=False, custom_layers={}).description.training
    assert training.loss == {"kind": "categorical_crossentropy", "size": "mse"}
    assert training.optimizer["name"] == "SGD"
    assert training.optimizer["momentum"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("version", "older"), [("2.15.0", True), ("1.2.2", True), (None, True), ("3.0.5", False), ("10.1", False)]
)
def test_the_version_tells_whether_to_translate(version: str | None, older: bool) -> None:
    assert is_of_keras_2(version) is older


def layer(kind: str, **config: Any) -> dict[str, Any]:
    return {"class_name": kind, "config": {"name": "it", **config}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (layer("InputLayer", batch_input_shape=[None, 3]), layer("InputLayer", batch_shape=[None, 3])),
        (layer("Dense", batch_input_shape=[None, 3], units=2), layer("Dense", units=2)),
        (layer("LSTM", time_major=False, units=2), layer("LSTM", units=2)),
        (layer("DepthwiseConv2D", groups=1, kernel_size=3), layer("DepthwiseConv2D", kernel_size=3)),
        (layer("Conv2D", groups=2, filters=4), layer("Conv2D", groups=2, filters=4)),
        (layer("Discretization", dtype="int64", trainable=True), layer("Discretization")),
        (layer("LeakyReLU", alpha=0.1), layer("LeakyReLU", negative_slope=0.1)),
        (layer("BatchNormalization", axis=[3]), layer("BatchNormalization", axis=3)),
        (layer("Dense", dtype={"class_name": "Policy", "config": {"name": "mixed_float16"}}),
         layer("Dense", dtype="mixed_float16")),
        (layer("Bidirectional", layer=layer("GRU", time_major=False)), layer("Bidirectional", layer=layer("GRU"))),
    ],
)  # fmt: skip
def test_what_keras_3_does_not_know_is_translated(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert translated(before, "m.h5") == after


def test_the_hard_sigmoid_of_keras_2_is_not_that_of_keras_3() -> None:
    import keras

    from cutaway.frameworks.keras.files import hard_sigmoid_of_keras_2

    for key in ("activation", "recurrent_activation"):
        config = translated(layer("LSTM", **{key: "hard_sigmoid"}), "m.h5")["config"]
        assert config[key]["config"] == "hard_sigmoid_of_keras_2"
    x = np.array([-3, -1, 0, 1, 2.5], "float32")
    values = keras.ops.convert_to_numpy(hard_sigmoid_of_keras_2(keras.ops.convert_to_tensor(x)))
    assert np.allclose(values, [0, 0.3, 0.5, 0.7, 1])


def test_what_has_no_equal_in_keras_3_is_named() -> None:
    with pytest.raises(ModelFormatError, match="layer 'it' has time_major=True"):
        translated(layer("LSTM", time_major=True), "m.h5")


def test_a_list_of_layers_without_an_input_becomes_a_sequential_with_one() -> None:
    old = {"class_name": "Sequential", "config": [layer("Dense", batch_input_shape=[None, 3], units=2)]}
    layers = translated(old, "m.h5")["config"]["layers"]
    assert [one["class_name"] for one in layers] == ["InputLayer", "Dense"]
    assert layers[0]["config"]["batch_shape"] == [None, 3]


def test_tensors_in_named_arguments_are_found_again() -> None:
    nodes = [[["a", 0, 0, {"value": ["b", 0, 0], "training": None}]]]
    model = {
        "class_name": "Functional",
        "config": {
            "layers": [
                {**layer("InputLayer", batch_input_shape=[None, 2]), "name": "a", "inbound_nodes": []},
                {**layer("InputLayer", batch_input_shape=[None, 2]), "name": "b", "inbound_nodes": []},
                {**layer("MultiHeadAttention"), "name": "c", "inbound_nodes": nodes},
            ],
            "input_layers": [["a", 0, 0], ["b", 0, 0]],
            "output_layers": [["c", 0, 0]],
        },
    }
    node = translated(model, "m.h5")["config"]["layers"][2]["inbound_nodes"][0]
    assert node["args"][0]["config"]["keras_history"] == ["a", 0, 0]
    assert node["kwargs"]["value"]["config"]["keras_history"] == ["b", 0, 0]
    assert node["kwargs"]["training"] is None
