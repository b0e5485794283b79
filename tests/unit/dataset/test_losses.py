"""The default losses, against numbers worked out by hand, against torch, and against what must hold of any loss."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cutaway.dataset.functions import Loss
from cutaway.dataset.losses import (
    binary_crossentropy,
    binary_crossentropy_from_logits,
    categorical_crossentropy,
    categorical_crossentropy_from_logits,
    default_losses,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
)
from cutaway.errors import ConfigurationError
from cutaway.models.backend import LOSSES

NAN = float("nan")


@pytest.mark.parametrize(
    ("loss", "truth", "guess", "expected"),
    [
        (mean_squared_error, [[1.0, 2.0], [0.0, 0.0]], [[0.0, 4.0], [0.0, 0.0]], [2.5, 0.0]),
        (mean_absolute_error, [[1.0, 2.0], [0.0, 0.0]], [[0.0, 4.0], [3.0, 0.0]], [1.5, 1.5]),
        (mean_squared_logarithmic_error, [[math.e - 1]], [[math.e**3 - 1]], [4.0]),
        (mean_squared_logarithmic_error, [[-5.0]], [[0.0]], [0.0]),
        (mean_absolute_percentage_error, [[4.0, 10.0]], [[5.0, 5.0]], [37.5]),
        (binary_crossentropy, [[1.0, 0.0]], [[0.5, 0.25]], [math.log(2) - math.log(0.75)]),
        (binary_crossentropy_from_logits, [[1.0, 0.0]], [[0.0, 0.0]], [2 * math.log(2)]),
        (categorical_crossentropy, [[0.0, 1.0, 0.0]], [[0.2, 0.5, 0.3]], [math.log(2)]),
        (categorical_crossentropy_from_logits, [[0.0, 1.0]], [[7.0, 7.0]], [math.log(2)]),
    ],
)
def test_losses_equal_what_is_worked_out_by_hand(
    loss: Callable[..., Any], truth: list[Any], guess: list[Any], expected: list[float]
) -> None:
    values = loss(np.array(truth), np.array(guess))
    assert values.dtype == np.float32
    assert values.shape == (len(expected),)
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)


def test_a_certain_and_wrong_prediction_costs_what_the_clip_allows() -> None:
    truth, guess = np.array([0]), np.array([[0.0, 1.0]])
    np.testing.assert_allclose(categorical_crossentropy(truth, guess), -math.log(1e-7), rtol=1e-5)
    np.testing.assert_allclose(binary_crossentropy(np.array([1.0]), np.array([0.0])), -math.log(1e-7), rtol=1e-5)


def test_probabilities_that_do_not_sum_to_one_are_renormalised() -> None:
    np.testing.assert_allclose(categorical_crossentropy(np.array([0]), np.array([[0.2, 0.2]])), math.log(2), rtol=1e-6)


@pytest.mark.parametrize("prediction", [[0.0, 0.0], [1.0, -1.0]])
def test_what_has_no_sum_to_be_divided_by_is_nan(prediction: list[float]) -> None:
    assert np.isnan(categorical_crossentropy(np.array([0]), np.array([prediction]))).all()


def test_a_batch_that_is_not_as_large_as_its_classes_works() -> None:
    assert categorical_crossentropy(np.array([0, 1, 2, 0, 1]), np.full((5, 3), 1 / 3)).shape == (5,)


def test_binary_crossentropy_is_summed_over_outputs() -> None:
    one = binary_crossentropy(np.ones((1, 1)), np.full((1, 1), 0.5))
    ten = binary_crossentropy(np.ones((1, 10)), np.full((1, 10), 0.5))
    np.testing.assert_allclose(ten, 10 * one, rtol=1e-6)


class TestAgainstTorch:
    """torch's own losses, reduced the way ours are."""

    rng = np.random.default_rng(4)
    logits = rng.normal(0, 3, (16, 5)).astype(np.float32)
    classes = rng.integers(0, 5, 16)

    def test_categorical_crossentropy(self) -> None:
        torch = pytest.importorskip("torch")
        logits, classes = torch.from_numpy(self.logits), torch.from_numpy(self.classes)
        expected = torch.nn.functional.cross_entropy(logits, classes, reduction="none").numpy()
        probabilities = torch.softmax(logits, dim=1).numpy()
        np.testing.assert_allclose(
            categorical_crossentropy_from_logits(self.classes, self.logits), expected, rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(
            categorical_crossentropy(self.classes, probabilities), expected, rtol=1e-4, atol=1e-5
        )

    def test_categorical_crossentropy_of_pixels_with_channels_first(self) -> None:
        torch = pytest.importorskip("torch")
        logits = self.rng.normal(size=(3, 4, 6, 7)).astype(np.float32)
        classes = self.rng.integers(0, 4, (3, 6, 7))
        pixels = torch.nn.functional.cross_entropy(
            torch.from_numpy(logits), torch.from_numpy(classes), reduction="none"
        )
        expected = pixels.mean(dim=(1, 2)).numpy()
        for truth in (classes, classes[:, np.newaxis]):
            np.testing.assert_allclose(
                categorical_crossentropy_from_logits(truth, logits, axis=1), expected, rtol=1e-5, atol=1e-6
            )

    def test_binary_crossentropy(self) -> None:
        torch = pytest.importorskip("torch")
        truth = (self.rng.random((16, 5)) > 0.5).astype(np.float32)
        logits = torch.from_numpy(self.logits)
        expected = (
            torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(truth), reduction="none")
            .sum(dim=1)
            .numpy()
        )
        np.testing.assert_allclose(binary_crossentropy_from_logits(truth, self.logits), expected, rtol=1e-5)
        np.testing.assert_allclose(binary_crossentropy(truth, torch.sigmoid(logits).numpy()), expected, rtol=1e-4)


def test_large_logits_do_not_overflow() -> None:
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        wrong = categorical_crossentropy_from_logits(np.array([0]), np.array([[0.0, 1e4]]))
        right = binary_crossentropy_from_logits(np.array([1.0]), np.array([1e4]))
    assert wrong.tolist() == [1e4]
    assert right.tolist() == [0.0]


def test_a_class_that_a_model_rules_out_costs_nothing_while_it_is_wrong() -> None:
    logits = np.array([[-np.inf, 0.0, 0.0]])
    one_hot = categorical_crossentropy_from_logits(np.array([[0.0, 1.0, 0.0]]), logits)
    np.testing.assert_allclose(one_hot, math.log(2), rtol=1e-6)
    assert np.isinf(categorical_crossentropy_from_logits(np.array([0]), logits)).all()


@pytest.mark.parametrize("loss", default_losses(), ids=lambda loss: loss.name)
def test_nan_makes_its_own_sample_nan_and_no_other(loss: Loss) -> None:
    clean = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    for side in ("ground_truth", "prediction"):
        values = {"ground_truth": clean.copy(), "prediction": np.full((3, 2), 0.5)}
        values[side][1, 0] = NAN
        result = loss.function(**values)
        assert np.isnan(result).tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["CategoricalCrossentropy", "BinaryCrossentropy", "MeanSquaredLogarithmicError"])
def test_clipping_hides_no_infinity(name: str) -> None:
    loss = next(loss for loss in default_losses() if loss.name == name)
    for infinity in (np.inf, -np.inf):
        assert np.isnan(loss.function(np.array([[1.0, 0.0]]), np.array([[infinity, 0.5]]))).all()


@pytest.mark.parametrize("loss", default_losses(), ids=lambda loss: loss.name)
def test_an_empty_batch_has_no_losses(loss: Loss) -> None:
    assert loss.function(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)


def test_shapes_that_would_broadcast_are_refused_with_both_shapes() -> None:
    with pytest.raises(ConfigurationError, match=r"\(4,\) and \(4, 3\)"):
        mean_squared_error(np.zeros(4), np.zeros((4, 3)))
    assert mean_squared_error(np.zeros(4), np.zeros((4, 1))).shape == (4,)


def test_classes_that_do_not_fit_are_refused_with_what_would() -> None:
    with pytest.raises(ConfigurationError, match=r"one-hot \(4, 3\), or class indices \(4,\) or \(4, 1\)"):
        categorical_crossentropy(np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(ConfigurationError, match="from 0 to 2, but got 3 in sample 1"):
        categorical_crossentropy(np.array([0, 3, -1]), np.zeros((3, 3)))
    with pytest.raises(ConfigurationError, match="BinaryCrossentropy"):
        categorical_crossentropy(np.zeros((4, 1)), np.zeros((4, 1)))
    with pytest.raises(ConfigurationError, match="no class axis 0"):
        categorical_crossentropy(np.zeros(4), np.zeros((4, 3)), axis=0)


def test_every_loss_that_gradients_know_by_name_is_a_default_loss() -> None:
    assert set(LOSSES) <= {loss.name for loss in default_losses()}


def test_the_class_axis_of_a_binding_is_the_one_of_its_losses() -> None:
    first = next(loss for loss in default_losses(1) if loss.name == "CategoricalCrossentropy")
    last = next(loss for loss in default_losses() if loss.name == "CategoricalCrossentropy")
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), (2, 4, 5))
    classes = np.random.default_rng(1).integers(0, 3, (2, 4, 5))
    np.testing.assert_allclose(
        first.function(classes, np.moveaxis(probabilities, -1, 1)), last.function(classes, probabilities)
    )


@st.composite
def classified(draw: st.DrawFn) -> tuple[Any, Any]:
    """Class indices and logits of a few samples."""
    samples, classes = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    logits = draw(arrays.arrays(np.float64, (samples, classes), elements=st.floats(-30, 30)))
    truth = draw(arrays.arrays(np.int64, samples, elements=st.integers(0, classes - 1)))
    return truth, logits


@given(classified())
def test_one_hot_and_index_say_the_same(case: tuple[Any, Any]) -> None:
    truth, logits = case
    one_hot = np.eye(logits.shape[1])[truth]
    expected = categorical_crossentropy_from_logits(one_hot, logits)
    for indices in (truth, truth[:, np.newaxis], truth.astype(np.float32)):
        np.testing.assert_array_equal(categorical_crossentropy_from_logits(indices, logits), expected)


@given(classified())
def test_shifting_all_logits_changes_nothing(case: tuple[Any, Any]) -> None:
    truth, logits = case
    np.testing.assert_allclose(
        categorical_crossentropy_from_logits(truth, logits + 5.0),
        categorical_crossentropy_from_logits(truth, logits),
        rtol=1e-4,
        atol=1e-5,
    )


@given(classified(), st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_no_loss(case: tuple[Any, Any], random: Any) -> None:
    truth, logits = case
    one_hot = np.eye(logits.shape[1])[truth]
    order = random.sample(range(len(truth)), len(truth))
    for loss in default_losses():
        np.testing.assert_array_equal(
            loss.function(one_hot[order], logits[order]), loss.function(one_hot, logits)[order]
        )
