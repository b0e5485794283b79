"""`.keras` and `.h5` files that Keras 3 wrote, as models. Runs on either backend: see `test_on_torch.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("keras")

from cutaway.errors import ModelFormatError
from cutaway.frameworks.keras.files import open_h5, open_keras
from cutaway.models.backend import Arrays, Backend
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract
from tests.frameworks.keras.making import ARCHITECTURES, Judge, batch_for, cnn, perturbed, two_inputs


def saved(model: Any, path: Path) -> Path:
    model.save(path)
    return path


def array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach() if hasattr(tensor, "detach") else tensor)


class TestSequentialFile(BackendContract):
    """One input, one output. The last test of the contract closes the backend that the others share."""

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, tmp_path_factory: pytest.TempPathFactory) -> Backend:
        path = saved(perturbed(cnn()), tmp_path_factory.mktemp("keras") / "cnn.keras")
        return open_keras(path, trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


class TestFunctionalFile(BackendContract):
    """Two inputs, two outputs, a model within the model."""

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, tmp_path_factory: pytest.TempPathFactory) -> Backend:
        path = saved(perturbed(two_inputs()), tmp_path_factory.mktemp("keras") / "two_inputs.keras")
        return open_keras(path, trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


class TestH5File(BackendContract):
    """The older format, as Keras 3 still writes it."""

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, tmp_path_factory: pytest.TempPathFactory) -> Backend:
        path = saved(perturbed(two_inputs()), tmp_path_factory.mktemp("h5") / "two_inputs.h5")
        return open_h5(path, trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize(("suffix", "opened"), [("keras", open_keras), ("h5", open_h5)])
def test_a_file_answers_as_the_model_that_it_was_saved_from(
    name: str, suffix: str, opened: Any, tmp_path: Path
) -> None:
    source = perturbed(ARCHITECTURES[name]())
    model = Model(opened(saved(source, tmp_path / f"m.{suffix}"), trust=False, custom_layers={}))
    for rows in (1, 4):
        batch = batch_for(model.inputs, rows)
        given = list(batch.values())
        answers = source(given if len(given) > 1 else given[0], training=False)
        answers = answers if isinstance(answers, list) else [answers]
        for got, answer in zip(model.predict(batch).values(), answers, strict=True):
            wanted = array(answer)
            assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()
            assert rows == 1 or np.ptp(got, axis=0).max() > 0
    assert model.latent(batch).shape[0] == 4


def test_the_layers_have_the_names_that_the_file_has(tmp_path: Path) -> None:
    backend = open_keras(saved(two_inputs(), tmp_path / "m.keras"), trust=False, custom_layers={})
    names = [layer.name for layer in backend.description.layers]
    assert {"stem/inner", "stem", "short_cut", "pooled", "merged", "shared", "widen", "shared@2"} <= set(names)
    assert backend.description.latent_layer == "features"
    assert [spec.name for spec in backend.description.outputs] == ["kind", "size"]
    assert [spec.channel_axis for spec in backend.description.inputs] == [-1, None]


@pytest.mark.parametrize(("suffix", "opened"), [("keras", open_keras), ("h5", open_h5)])
def test_what_the_model_was_compiled_with_is_said_and_not_made(suffix: str, opened: Any, tmp_path: Path) -> None:
    path = saved(ARCHITECTURES["mlp"](), tmp_path / f"m.{suffix}")
    training = opened(path, trust=False, custom_layers={}).description.training
    assert training.loss == "categorical_crossentropy"
    assert training.optimizer["name"] == "Adam"
    assert training.optimizer["learning_rate"] == pytest.approx(0.01)
    assert training.metrics == ("accuracy",)


@pytest.mark.parametrize(("name", "latent"), [("mlp", "hidden"), ("cnn", "flat"), ("lstm", "gru")])
def test_the_latent_layer_is_what_goes_into_the_head(name: str, latent: str, tmp_path: Path) -> None:
    path = saved(ARCHITECTURES[name](), tmp_path / "m.keras")
    assert open_keras(path, trust=False, custom_layers={}).description.latent_layer == latent


def test_word_numbers_are_whole_although_keras_declares_floats(tmp_path: Path) -> None:
    backend = open_keras(saved(ARCHITECTURES["lstm"](), tmp_path / "m.keras"), trust=False, custom_layers={})
    assert backend.description.inputs[0].dtype == "int32"


def test_a_model_with_a_class_of_its_own_loads_where_the_class_is_given(tmp_path: Path) -> None:
    source = Judge()
    source(np.zeros((2, 6), "float32"))
    path = saved(perturbed(source), tmp_path / "m.keras")
    model = Model(open_keras(path, trust=False, custom_layers={"Judge": Judge}))
    batch = batch_for(model.inputs)
    assert np.allclose(model.predict(batch)["output"], array(source(batch["inputs"])), atol=1e-6)
    assert [layer.name for layer in model.layers] == ["hidden", "hidden@2", "drop", "head"]
    assert model.latent_layer == "hidden@2"


def test_a_file_without_a_model_says_what_it_is(tmp_path: Path) -> None:
    model = cnn()
    model.save_weights(tmp_path / "m.weights.h5")
    with pytest.raises(ModelFormatError, match="written by `save_weights`"):
        open_h5(tmp_path / "m.weights.h5", trust=False, custom_layers={})


def test_a_fixed_batch_size_is_declared_and_obeyed(tmp_path: Path) -> None:
    import keras

    source = perturbed(keras.Sequential([keras.Input(batch_shape=(2, 4), name="x"), keras.layers.Dense(3)]))
    model = Model(open_keras(saved(source, tmp_path / "m.keras"), trust=False, custom_layers={}))
    batch = batch_for(model.inputs, 5)
    whole = model.predict(batch)
    assert [len(values) for values in whole.values()] == [5]
    assert model.gradient(batch, target=[0, 1, 2, 0, 1]).gradient.shape == (5, 4)


def test_channels_first_is_said(tmp_path: Path) -> None:
    import keras

    x = keras.Input((3, 8, 8), name="image")
    y = keras.layers.Conv2D(4, 1, data_format="channels_first", name="conv")(x)
    model = keras.Model(x, y)
    description = open_keras(saved(model, tmp_path / "m.keras"), trust=False, custom_layers={}).description
    assert description.inputs[0].channel_axis == 1
    assert description.outputs[0].channel_axis == 1
    assert description.layers[0].channel_axis == 1
