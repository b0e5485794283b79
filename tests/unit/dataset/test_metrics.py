"""The default metrics: classes are compared by the class axis, and NaN never passes for right or wrong."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.dataset.enums import ConfusionMatrixValue, MetricDirection
from cutaway.dataset.functions import Metric
from cutaway.dataset.metrics import accuracy, confusion_matrix_classification, default_metrics
from cutaway.errors import ConfigurationError

NAMES = [
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "Accuracy",
    "ConfusionMatrixClassification",
    "CategoricalCrossentropy",
    "BinaryCrossentropy",
]


def test_the_default_metrics_have_the_names_order_directions_and_arguments_of_before() -> None:
    assert [metric.name for metric in default_metrics()] == NAMES
    directions = {metric.name: metric.direction for metric in default_metrics()}
    assert directions.pop("Accuracy") is MetricDirection.Upward
    assert directions.pop("ConfusionMatrixClassification") is None
    assert set(directions.values()) == {MetricDirection.Downward}
    assert {metric.arguments for metric in default_metrics()} == {("ground_truth", "prediction")}


def test_a_hesitant_prediction_whose_largest_class_is_right_is_right() -> None:
    prediction = np.array([[0.4, 0.3, 0.3], [0.3, 0.4, 0.3]], dtype=np.float32)
    for truth in (np.array([[1, 0, 0], [1, 0, 0]]), np.array([0, 0]), np.array([[0], [0]])):
        values = accuracy(truth, prediction)
        assert values.dtype == np.float32
        assert values.tolist() == [1.0, 0.0]


def test_logits_are_as_good_as_probabilities() -> None:
    assert accuracy(np.array([1]), np.array([[-9.0, -1.0, -5.0]])).tolist() == [1.0]


def test_a_tie_goes_to_the_first_class() -> None:
    assert accuracy(np.array([0, 1]), np.full((2, 3), 1 / 3)).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_a_single_output_is_predicted_above_one_half(shape: tuple[int, ...]) -> None:
    prediction = np.array([0.51, 0.49, 0.5, 0.9]).reshape(shape)
    for truth in (np.array([1, 1, 0, 0]), np.array([[1.0], [1.0], [0.0], [0.0]])):
        assert accuracy(truth, prediction).tolist() == [1.0, 0.0, 1.0, 0.0]


def test_pixels_are_averaged_within_their_sample() -> None:
    classes = np.array([[[0, 1], [2, 2]], [[1, 1], [1, 1]]])
    predicted = np.array([[[0, 1], [2, 0]], [[1, 1], [1, 1]]])
    last = np.eye(3)[predicted]
    for truth in (classes, classes[..., np.newaxis], np.eye(3)[classes]):
        assert accuracy(truth, last).tolist() == [0.75, 1.0]
    first = np.moveaxis(last, -1, 1)
    for truth in (classes, classes[:, np.newaxis], np.moveaxis(np.eye(3)[classes], -1, 1)):
        assert accuracy(truth, first, axis=1).tolist() == [0.75, 1.0]


def test_the_class_axis_of_a_binding_is_the_one_of_its_metrics() -> None:
    metric = next(metric for metric in default_metrics(channel_dim=1) if metric.name == "Accuracy")
    assert metric.function(np.zeros((1, 2, 2)), np.moveaxis(np.eye(3)[np.zeros((1, 2, 2), int)], -1, 1)).tolist() == [1]


@pytest.mark.parametrize("metric", [one for one in default_metrics() if one.direction], ids=lambda one: one.name)
def test_nan_is_neither_right_nor_wrong(metric: Metric) -> None:
    for side in ("ground_truth", "prediction"):
        values = {"ground_truth": np.eye(2), "prediction": np.full((2, 2), 0.5)}
        values[side][1, 1] = np.nan
        assert np.isnan(metric.function(**values)).tolist() == [False, True]


def test_nan_of_a_single_output_and_of_a_class_index_is_nan() -> None:
    assert np.isnan(accuracy(np.array([1.0, 1.0]), np.array([0.9, np.nan]))).tolist() == [False, True]
    assert np.isnan(accuracy(np.array([np.nan, 1.0]), np.eye(2))).tolist() == [True, False]


class TestConfusionMatrix:
    """One element a class, of every sample."""

    def test_each_class_says_what_was_expected_and_how_probable_it_was(self) -> None:
        prediction = np.array([[0.1, 0.7, 0.2], [0.5, 0.25, 0.25]])
        for truth in (np.array([1, 2]), np.eye(3)[[1, 2]]):
            rows = confusion_matrix_classification(truth, prediction, labels=["ant", "bee", "cow"])
            assert [[element.label for element in row] for row in rows] == [["ant", "bee", "cow"]] * 2
            assert [element.predicted_probability for element in rows[0]] == [0.1, 0.7, 0.2]
            positive = [[element.expected_outcome is ConfusionMatrixValue.Positive for element in row] for row in rows]
            assert positive == [[False, True, False], [False, False, True]]

    def test_classes_without_labels_are_called_by_their_index(self) -> None:
        [row] = confusion_matrix_classification(np.array([0]), np.array([[0.5, 0.5]]))
        assert [element.label for element in row] == ["0", "1"]

    @pytest.mark.parametrize(("labels", "name"), [((), "1"), (("no", "yes"), "yes"), (("yes",), "yes")])
    def test_a_single_output_is_one_class(self, labels: tuple[str, ...], name: str) -> None:
        rows = confusion_matrix_classification(np.array([1, 0]), np.array([[0.75], [0.25]]), labels=labels)
        assert [(row[0].label, row[0].expected_outcome.name, row[0].predicted_probability) for row in rows] == [
            (name, "Positive", 0.75),
            (name, "Negative", 0.25),
        ]

    def test_nan_stays_visible(self) -> None:
        rows = confusion_matrix_classification(np.array([np.nan, 0]), np.array([[0.5, 0.5], [np.nan, 0.5]]))
        assert rows[0] == []
        assert np.isnan(rows[1][0].predicted_probability)

    def test_masks_and_wrong_labels_are_refused_with_the_values(self) -> None:
        with pytest.raises(ConfigurationError, match="4 positions a sample"):
            confusion_matrix_classification(np.zeros((1, 2, 2)), np.zeros((1, 2, 2, 3)))
        with pytest.raises(ConfigurationError, match="2 labels for 3 classes"):
            confusion_matrix_classification(np.zeros(1), np.zeros((1, 3)), labels=["a", "b"])


@given(st.data(), st.integers(1, 6), st.integers(2, 5))
def test_accuracy_of_index_and_one_hot_agree_in_any_order(data: Any, samples: int, classes: int) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    truth, prediction = rng.integers(0, classes, samples), rng.normal(size=(samples, classes))
    expected = (prediction.argmax(axis=1) == truth).astype(np.float32)
    order = rng.permutation(samples)
    assert accuracy(truth, prediction).tolist() == expected.tolist()
    assert accuracy(np.eye(classes)[truth], prediction).tolist() == expected.tolist()
    assert accuracy(truth[order], prediction[order]).tolist() == expected[order].tolist()
