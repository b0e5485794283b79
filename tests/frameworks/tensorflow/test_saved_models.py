"""SavedModel folders: of `model.export`, of `tf.saved_model.save`, as models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tensorflow")
pytest.importorskip("keras")

from cutaway.errors import ConfigurationError, GradientUnavailable, ModelFormatError
from cutaway.frameworks.tensorflow.saved_model import open_saved_model
from cutaway.models.backend import Arrays, Backend, Question
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract
from tests.frameworks.keras.making import ARCHITECTURES, batch_for, perturbed

import tensorflow as tf  # isort: skip


class TestExportedModel(BackendContract):
    """The last test of the contract closes the backend that the others share."""

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, tmp_path_factory: pytest.TempPathFactory) -> Backend:
        folder = tmp_path_factory.mktemp("exported")
        perturbed(ARCHITECTURES["cnn"]()).export(folder, verbose=False)
        return open_saved_model(folder, trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


class Plain(tf.Module):
    """A model without Keras, with two inputs, two outputs and a loop."""

    def __init__(self) -> None:
        random = np.random.default_rng(1)
        self.w = tf.Variable(random.normal(size=(4, 3)), dtype=tf.float32)
        self.v = tf.Variable(random.normal(size=(3, 3)), dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec([None, 4], name="a"), tf.TensorSpec([None, 3], name="b")])
    def serve(self, a: Any, b: Any) -> dict[str, Any]:
        """Return the state after three rounds, and its sum."""
        state = tf.nn.tanh(tf.matmul(a, self.w))
        for _ in tf.range(3):
            state = tf.nn.tanh(tf.matmul(state, self.v) + b)
        return {"state": tf.matmul(state, self.v), "total": tf.reduce_sum(state, axis=1)}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    model = Plain()
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.serve})
    return folder


class TestModelOfPlainTensorFlow(BackendContract):
    """Signatures of functions that somebody wrote."""

    @pytest.fixture
    def backend(self, plain: Path) -> Backend:
        return open_saved_model(plain, trust=False, custom_layers={})

    @pytest.fixture
    def batch(self, backend: Backend) -> Arrays:
        return batch_for(backend.description.inputs)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_folder_answers_as_the_model_that_it_was_exported_from(name: str, tmp_path: Path) -> None:
    source = perturbed(ARCHITECTURES[name]())
    source.export(tmp_path, verbose=False)
    model = Model(open_saved_model(tmp_path, trust=False, custom_layers={}))
    for rows in (1, 4):
        # Names and order are the folder's own; the numbers are found by the source's names.
        batch = batch_for(model.inputs, rows)
        given = [tf.constant(batch[tensor.name]) for tensor in source.inputs]
        with tf.GradientTape() as tape:
            tape.watch(given)
            answers = source(given if len(given) > 1 else given[0], training=False)
            answers = answers if isinstance(answers, list) else [answers]
            axes = list(range(1, answers[0].shape.rank - 1))
            score = tf.reduce_sum(tf.reduce_sum(answers[0], axes)[:, 0])
        for got, wanted in zip(model.predict(batch).values(), answers, strict=True):
            assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()
        wanted = tape.gradient(score, given[0])
        if wanted is not None:
            got = model.gradient(batch, target=0, wrt=source.inputs[0].name).gradient
            assert np.abs(got - wanted).max() <= 1e-4 * np.abs(wanted).max()
    assert model.latent(batch).shape[0] == 4


def test_layers_are_operations_by_their_names(tmp_path: Path) -> None:
    ARCHITECTURES["mlp"]().export(tmp_path, verbose=False)
    description = open_saved_model(tmp_path, trust=False, custom_layers={}).description
    assert [layer.kind for layer in description.layers] == [
        "MatMul", "BiasAdd", "Relu", "MatMul", "BiasAdd", "Softmax"
    ]  # fmt: skip
    assert description.latent_layer is not None
    assert description.latent_layer.endswith("hidden_1/Relu")


def test_an_only_signature_is_taken_and_a_choice_is_left_to_people(tmp_path: Path) -> None:
    model = Plain()
    tf.saved_model.save(model, str(tmp_path / "one"), signatures={"mine": model.serve})
    opened = open_saved_model(tmp_path / "one", trust=False, custom_layers={})
    assert opened.description.about["signature"] == "mine"
    tf.saved_model.save(model, str(tmp_path / "two"), signatures={"mine": model.serve, "yours": model.serve})
    with pytest.raises(ModelFormatError, match=r"no signature 'serving_default' .*it has mine, yours"):
        open_saved_model(tmp_path / "two", trust=False, custom_layers={})


def test_the_gradient_by_what_an_output_does_not_use_is_unavailable(tmp_path: Path) -> None:
    class Two(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], name="a"), tf.TensorSpec([None, 2], name="b")])
        def serve(self, a: Any, b: Any) -> dict[str, Any]:
            return {"of_a": 2 * a, "of_b": 3 * b}

    model = Two()
    tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    backend = open_saved_model(tmp_path, trust=False, custom_layers={})
    batch = batch_for(backend.description.inputs)
    with pytest.raises(GradientUnavailable, match="'of_a' does not depend on 'b'"):
        backend.gradient(batch, Question("of_a", "b"))


def test_a_class_that_is_not_there_is_said(plain: Path) -> None:
    backend = open_saved_model(plain, trust=False, custom_layers={})
    with pytest.raises(ConfigurationError, match="3 classes, but `target` asks for 7"):
        backend.gradient(batch_for(backend.description.inputs), Question("state", "a", target=np.full(4, 7)))


def test_a_fixed_batch_size_works_through_portions(tmp_path: Path) -> None:
    class Fixed(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([2, 3], name="x")])
        def serve(self, x: Any) -> dict[str, Any]:
            return {"y": tf.nn.relu(x) * 2}

    model = Fixed()
    tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    opened = Model(open_saved_model(tmp_path, trust=False, custom_layers={}))
    x = np.arange(15, dtype="float32").reshape(5, 3)
    assert np.array_equal(opened.predict(x)["y"], 2 * x)
