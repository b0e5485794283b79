"""Live Keras models: they answer, and are left as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("keras")

import keras

from cutaway.errors import GradientUnavailable, ModelError
from cutaway.frameworks.keras.model import wrap
from cutaway.models.backend import Arrays, Backend, Question
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract
from tests.frameworks.keras.making import ARCHITECTURES, Judge, batch_for, perturbed


class TestFunctionalModel(BackendContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        return wrap(perturbed(ARCHITECTURES["transformer"]()))

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


class TestSubclassedModel(BackendContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        model = Judge()
        model(np.zeros((2, 6), "float32"))
        return wrap(perturbed(model))

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


def test_a_live_model_is_left_as_it_was() -> None:
    model = ARCHITECTURES["mlp"]()
    model.layers[0].trainable = False
    x, y = np.random.default_rng(0).random((8, 6), dtype="float32"), np.eye(3, dtype="float32")[np.arange(8) % 3]
    model.fit(x, y, verbose=0)
    before = ([w.copy() for w in model.get_weights()], model.train_function, model.predict_function)
    trainable = [layer.trainable for layer in model.layers]
    mine = Model(wrap(model))
    mine.predict(x)
    mine.activations(x, [layer.name for layer in mine.layers])
    mine.gradient(x, wrt="hidden", loss="CategoricalCrossentropy", labels=y)
    assert all(np.array_equal(a, b) for a, b in zip(before[0], model.get_weights(), strict=True))
    assert (model.train_function, model.predict_function) == before[1:]
    assert [layer.trainable for layer in model.layers] == trainable
    assert not any("call" in vars(layer) for layer in model.layers)
    model.fit(x, y, verbose=0)


def test_training_on_changes_what_a_wrapped_model_says() -> None:
    model = ARCHITECTURES["mlp"]()
    mine = Model(wrap(model))
    batch = batch_for(mine.inputs)
    before = mine.predict(batch)["classes"]
    model.set_weights([w + 0.5 * np.arange(w.size).reshape(w.shape) for w in model.get_weights()])
    assert not np.allclose(mine.predict(batch)["classes"], before)


def test_the_predictions_are_those_of_keras_itself() -> None:
    for name in ("cnn", "unet", "transformer"):
        model = perturbed(ARCHITECTURES[name]())
        mine = Model(wrap(model))
        batch = batch_for(mine.inputs)
        wanted = model.predict_on_batch(next(iter(batch.values())))
        assert np.allclose(next(iter(mine.predict(batch).values())), wanted, atol=1e-6)


def test_a_model_that_was_never_called_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="Call it once"):
        wrap(Judge())
    with pytest.raises(ModelError, match=r"keras\.Input"):
        wrap(keras.Sequential([keras.layers.Dense(3)]))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ModelError, match="Dense is a part of Keras, but no model"):
        wrap(keras.layers.Dense(3))


def test_word_numbers_have_no_gradient_but_their_embedding_has() -> None:
    mine = Model(wrap(perturbed(ARCHITECTURES["lstm"]())))
    batch = batch_for(mine.inputs)
    with pytest.raises(GradientUnavailable, match="int32"):
        mine.gradient(batch)
    assert np.abs(mine.gradient(batch, wrt="embedded").gradient).max() > 0


def test_an_output_that_does_not_depend_on_an_input_says_so() -> None:
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    model = keras.Model([a, b], [keras.layers.Dense(2, name="of_a")(a), keras.layers.Dense(2, name="of_b")(b)])
    backend = wrap(model)
    with pytest.raises(GradientUnavailable, match="'of_a' does not depend on 'b'"):
        backend.gradient(batch_for(backend.description.inputs), Question("of_a", "b"))


def test_outputs_by_name_keep_their_names() -> None:
    x = keras.Input((3,), name="x")
    outputs = {"second": keras.layers.Dense(2, name="p")(x), "first": keras.layers.Dense(4, name="q")(x)}
    backend = wrap(keras.Model(x, outputs))
    shapes = {name: values.shape for name, values in backend.predict(batch_for(backend.description.inputs)).items()}
    assert shapes == {"first": (4, 4), "second": (4, 2)}


def test_inputs_by_name_come_under_their_names() -> None:
    inputs = {"b": keras.Input((3,), name="b"), "a": keras.Input((2,), name="a")}
    model = keras.Model(inputs, keras.layers.Concatenate()([inputs["b"], inputs["a"]]))
    backend = wrap(model)
    batch = batch_for(backend.description.inputs)
    assert np.array_equal(next(iter(backend.predict(batch).values())), np.hstack([batch["b"], batch["a"]]))


def test_mixed_precision_answers_in_the_precision_that_is_declared() -> None:
    policy: Any = keras.mixed_precision.DTypePolicy("mixed_bfloat16")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, dtype=policy, name="half")])
    backend = wrap(perturbed(model))
    batch = batch_for(backend.description.inputs)
    assert backend.predict(batch)["half"].dtype == "float32"
    assert backend.activations(batch, ["half"])["half"].dtype == "float32"
    assert backend.gradient(batch, Question("half", backend.description.inputs[0].name)).gradient.shape == (4, 4)
