"""The scores and losses that gradients are taken of: the same numbers on TensorFlow as on torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("tensorflow")
pytest.importorskip("torch")

import tensorflow as tf
import torch

from cutaway.errors import ConfigurationError, GradientUnavailable
from cutaway.frameworks.tensorflow.scores import summed_score
from cutaway.frameworks.torch.scores import summed_score as torch_score
from cutaway.models.backend import LOSSES, Question
from cutaway.models.batches import checked_question

RANDOM = np.random.default_rng(2)


def both(values: np.ndarray, question: Question, axis: int | None) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """The score and its gradient, on TensorFlow and on torch."""
    ready = checked_question(question, values.shape, axis)
    tensor = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        target = None if ready.target is None else tf.constant(ready.target)
        score = summed_score(tensor, ready, axis, target, ready.labels)
    leaf = torch.tensor(values, requires_grad=True)
    other = torch_score(leaf, question, axis)
    gradient = torch.autograd.grad(other, leaf)[0].numpy()
    return score.numpy(), other.item(), tape.gradient(score, tensor).numpy(), gradient


@pytest.mark.parametrize("shape", [(4, 5), (4, 3, 5), (4, 2, 3, 5)])
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_those_of_torch(loss: str, shape: tuple[int, ...]) -> None:
    values = RANDOM.random(shape).astype("float32") * 0.9 + 0.05
    values = values if loss.endswith("FromLogits") else values / values.sum(axis=-1, keepdims=True)
    one_hot = np.eye(5, dtype="float32")[RANDOM.integers(0, 5, shape[:-1])]
    labels = [one_hot, one_hot.argmax(-1)] if loss.startswith("Categorical") else [RANDOM.random(shape).astype("f4")]
    for given in labels:
        ours, theirs, gradient, other = both(values, Question("y", "x", loss=loss, labels=given), -1)
        assert ours == pytest.approx(theirs, rel=1e-5)
        assert np.allclose(gradient, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "axis"), [((4, 5), -1), ((4, 5, 2, 2), 1), ((4, 2, 2, 5), -1), ((4, 1), -1), ((4,), None), ((4, 5), None)]
)
@pytest.mark.parametrize("target", [None, np.array([0, 1, 0, 1])])
def test_scores_are_those_of_torch(shape: tuple[int, ...], axis: int | None, target: Any) -> None:
    values = RANDOM.normal(size=shape).astype("float32")
    ours, theirs, gradient, other = both(values, Question("y", "x", target=target), axis)
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)
    assert np.allclose(gradient, other)


def test_labels_may_leave_out_an_axis_of_one() -> None:
    values = RANDOM.random((4, 1)).astype("float32")
    asked = Question("y", "x", loss="BinaryCrossentropy", labels=np.array([0, 1, 1, 0]))
    ours, theirs, *_ = both(values, asked, -1)
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question("y", "x", target=np.array([0, 9])), "5 classes, but `target` asks for 9"),
        (Question("y", "x", loss="CategoricalCrossentropy", labels=np.array([0, 9])), "go from 0 to 9, of 5"),
        (Question("y", "x", loss="CategoricalCrossentropy", labels=np.zeros((2, 7))), "but they are"),
        (Question("y", "x", loss="MeanSquaredError", labels=np.zeros((2, 7))), "but the output is"),
        (Question("y", "x", loss="MeanSquaredError"), "needs `labels`"),
    ],
)
def test_what_does_not_fit_is_said(question: Question, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        checked_question(question, (2, 5), -1)


def test_whole_numbers_have_no_gradient() -> None:
    with pytest.raises(GradientUnavailable, match="int32"):
        summed_score(tf.constant([[1, 2]]), Question("y", "x"), -1, None, None)
