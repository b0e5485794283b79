"""`Model`: portions for a fixed batch size, latents, and gradients asked for as people ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, GradientUnavailable, LayerUnavailable, ModelInputError
from cutaway.models import Layer, Model, TensorSpec
from cutaway.models.backend import Arrays, Gradient, Question
from tests.toy_format import ToyBackend


class FixedBackend(ToyBackend):
    """A model that was saved with a batch size of 4 and takes nothing else; remembers how often it was asked."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked = 0
        self.description = replace(self.description, inputs=(TensorSpec("x", (4, 4)),))

    def predict(self, batch: Arrays) -> Arrays:
        self.asked += 1
        assert len(batch["x"]) == 4
        return super().predict(batch)

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        assert len(batch["x"]) == 4
        return super().activations(batch, layers)

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        assert len(batch["x"]) == 4
        return super().gradient(batch, question)


class ImageBackend(ToyBackend):
    """Channels first: the score is the sum of the first channel, squared."""

    def __init__(self) -> None:
        super().__init__({})
        self.description = replace(
            self.description,
            inputs=(TensorSpec("x", (None, 3, 2, 2), channel_axis=1),),
            layers=(Layer("input", "Input"), *self.description.layers),
        )

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        assert question.wrt == "x"
        gradient = np.zeros_like(batch["x"])
        gradient[:, 0] = 2 * batch["x"][:, 0]
        return Gradient(gradient, batch["x"])


@pytest.fixture
def batch() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(10, 4)).astype(np.float32)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 10])
def test_a_fixed_batch_size_does_not_show(batch: np.ndarray, rows: int) -> None:
    fixed, free = Model(FixedBackend()), Model(ToyBackend({}))
    part = batch[:rows]
    assert np.allclose(fixed.predict(part)["scores"], free.predict(part)["scores"], atol=1e-5)
    assert fixed.predict(part)["scores"].shape == (rows, 3)
    assert np.allclose(fixed.latent(part), free.latent(part), atol=1e-5)
    if rows:
        target = np.arange(rows) % 3
        ours, theirs = fixed.gradient(part, target=target), free.gradient(part, target=target)
        assert np.allclose(ours.gradient, theirs.gradient, atol=1e-5)
        assert ours.activation.shape == part.shape


def test_ten_rows_in_portions_of_four_are_three_questions(batch: np.ndarray) -> None:
    backend = FixedBackend()
    Model(backend).predict(batch)
    assert backend.asked == 3


def test_outputs_and_layers_come_together(batch: np.ndarray) -> None:
    for model in (Model(ToyBackend({})), Model(FixedBackend())):
        outputs, layers = model.predict_with(batch, ["hidden", "scores"])
        assert list(outputs) == ["scores"]
        assert np.array_equal(layers["scores"], outputs["scores"])
        assert layers["hidden"].shape == (10, 5)


def test_a_layer_that_is_not_there_offers_the_nearest(batch: np.ndarray) -> None:
    with pytest.raises(LayerUnavailable, match=r"No layer 'hiden'.*Did you mean 'hidden'\?"):
        Model(ToyBackend({})).activations(batch, ["hiden"])
    with pytest.raises(LayerUnavailable):
        Model(ToyBackend({})).latent(batch, "nowhere")


def test_a_gradient_is_of_the_predicted_class_where_none_is_named(batch: np.ndarray) -> None:
    model = Model(ToyBackend({}))
    predicted = model.predict(batch)["scores"].argmax(axis=1)
    assert np.array_equal(model.gradient(batch).gradient, model.gradient(batch, target=predicted).gradient)
    assert np.array_equal(model.gradient(batch, target=1).gradient, model.gradient(batch, target=[1] * 10).gradient)
    assert model.gradient(batch, wrt="hidden").gradient.shape == (10, 5)


@pytest.mark.parametrize("target", [3, -1, [0] * 9, [0.5] * 10, [0] * 9 + [3]])
def test_a_class_that_is_not_there_is_refused(batch: np.ndarray, target: object) -> None:
    with pytest.raises(ConfigurationError, match="target"):
        Model(ToyBackend({})).gradient(batch, target=target)


def test_labels_and_losses_belong_together(batch: np.ndarray) -> None:
    model, labels = Model(ToyBackend({})), np.ones((10, 3), np.float32)
    assert model.gradient(batch, loss="MeanSquaredError", labels=labels.tolist()).gradient.shape == (10, 4)
    with pytest.raises(ConfigurationError, match=r"no loss 'MeanSquareError'\. Did you mean 'MeanSquaredError'"):
        model.gradient(batch, loss="MeanSquareError", labels=labels)
    with pytest.raises(ConfigurationError, match="needs `labels`"):
        model.gradient(batch, loss="MeanSquaredError")
    with pytest.raises(ConfigurationError, match="are for a loss"):
        model.gradient(batch, labels=labels)
    with pytest.raises(ConfigurationError, match=r"a row for each of the 10 samples, but got \(9, 3\)"):
        model.gradient(batch, loss="MeanSquaredError", labels=labels[:9])


def test_outputs_and_what_to_differentiate_by_are_looked_up(batch: np.ndarray) -> None:
    model = Model(ToyBackend({}))
    with pytest.raises(ConfigurationError, match=r"no output 'score'\. Did you mean 'scores'"):
        model.gradient(batch, "score")
    with pytest.raises(LayerUnavailable, match="No layer 'nowhere'"):
        model.gradient(batch, wrt="nowhere")


def test_by_input_means_the_first_input_even_where_a_layer_has_that_name() -> None:
    images = np.random.default_rng(2).normal(size=(2, 2, 2, 3)).astype(np.float32)
    gradient, activation = Model(ImageBackend(), channels_last=True).gradient(images)
    assert np.array_equal(activation, images)
    assert np.allclose(gradient[..., 0], 2 * images[..., 0])
    assert not gradient[..., 1:].any()


def test_a_model_without_gradients_says_why(batch: np.ndarray) -> None:
    backend = ToyBackend({})
    backend.description = replace(backend.description, differentiable="It has a tree in it.")
    with pytest.raises(GradientUnavailable, match="It has a tree in it"):
        Model(backend).gradient(batch)


def test_it_shows_its_inputs_and_outputs_and_closes_with_its_block(batch: np.ndarray) -> None:
    with Model(ToyBackend({}), limits=["memory: at most 5 MB."]) as model:
        assert repr(model) == "Model(toy: x[None, 4] -> scores[None, 3])"
        assert model.limits == ("memory: at most 5 MB.",)
        assert model.latent_layer == "hidden"
        assert (model.training.optimizer, model.channels_last) == ("sgd", None)
        with pytest.raises(ModelInputError):
            model.predict(batch[:, :3])
