"""Losses and metrics: what suits a first batch, and what functions may return."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cutaway.dataset import Dataset
from cutaway.dataset.functions import Metric
from cutaway.dataset.rendering import preview_png
from cutaway.dataset.visualizer_classes import LeapImage
from cutaway.evaluation.defaults import default_loss, default_metric, look_at_pair, loss_of_training
from cutaway.evaluation.scoring import Bound, Labels, Values, label_columns, score, total_loss
from cutaway.evaluation.thumbnails import thumbnails
from cutaway.models import SavedTraining

ONE_HOT = np.eye(3, dtype=np.float32)[[0, 2]]
PROBABILITIES = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], np.float32)
LOGITS = np.array([[-1.0, 2.0, 0.5], [3.0, 0.0, 0.1]], np.float32)
CROSS, LOGIT_CROSS = "CategoricalCrossentropy", "CategoricalCrossentropyFromLogits"


@pytest.mark.parametrize(
    ("truth", "prediction", "axis", "loss", "metric"),
    [
        (ONE_HOT, PROBABILITIES, -1, CROSS, "Accuracy"),
        (ONE_HOT, LOGITS, -1, LOGIT_CROSS, "Accuracy"),
        (np.array([0, 2]), LOGITS, -1, LOGIT_CROSS, "Accuracy"),
        (np.array([[0.0], [2.0]], np.float32), PROBABILITIES, -1, CROSS, "Accuracy"),
        (np.array([0, 3]), LOGITS, -1, None, None),
        (LOGITS + 1, LOGITS, -1, "MeanSquaredError", "MeanAbsoluteError"),
        (np.array([[0.3], [1.5]]), np.array([[0.2], [1.0]]), -1, "MeanSquaredError", "MeanAbsoluteError"),
        (np.zeros((2, 4, 4)), np.zeros((2, 3)), -1, None, None),
        (np.zeros((2, 4, 5), np.int64), np.zeros((2, 3, 4, 5), np.float32), 1, LOGIT_CROSS, "Accuracy"),
        (np.array(["a", "b"]), LOGITS, -1, None, None),
    ],
)
def test_the_first_batch_decides(
    truth: np.ndarray, prediction: np.ndarray, axis: int, loss: str | None, metric: str | None
) -> None:
    pair = look_at_pair(truth, prediction, axis)
    assert default_loss(pair) == loss
    assert default_metric(pair) == metric


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("mse", "MeanSquaredError"),
        ("MeanSquaredError", "MeanSquaredError"),
        ("categorical_crossentropy", CROSS),
        ({"class_name": "SparseCategoricalCrossentropy", "config": {"from_logits": True}}, LOGIT_CROSS),
        (["binary_crossentropy"], "BinaryCrossentropy"),
        ("my_own_loss", None),
        ({"a": "mse", "b": "mae"}, None),
        (None, None),
    ],
)
def test_the_loss_that_a_model_carried(given: object, name: str | None) -> None:
    assert loss_of_training(SavedTraining(loss=given)) == name


def values(rows: int = 4) -> Values:
    x = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    return Values({"input.x": x}, Dataset.from_arrays(x).subsets["training"], list(range(rows)))


def bound(function: object) -> Bound:
    return Bound("metric", Metric("m", function, ("x",)), {"x": "input.x"})  # type: ignore[arg-type]


class TestCalls:
    def test_numbers_of_any_package_and_shape_that_mean_one_a_sample(self) -> None:
        for function in (lambda x: x[:, 0], lambda x: x[:, :1], lambda x: list(x[:, 0]), lambda x: x[:, 0] > 1):
            columns, errors = score([bound(function)], values())
            assert not errors
            assert len(columns["metric.m"]) == 4

    def test_sys_exit_in_a_metric_ends_nothing(self) -> None:
        def leave(x: np.ndarray) -> None:
            raise SystemExit(3)

        columns, errors = score([bound(leave)], values())
        assert columns == {}
        assert "sys.exit" in errors[0]

    def test_what_needs_a_ground_truth_is_left_out_without_one(self) -> None:
        needs = Bound("metric", Metric("m", lambda y: y, ("y",)), {"y": "ground_truth.y"})
        assert score([needs], values()) == ({}, {})

    def test_the_total_is_the_sum_of_all_losses(self) -> None:
        assert total_loss({"metric.a": [1]}) is None
        assert total_loss({"loss.a": np.array([1.0, 2.0]), "loss.b": [1.0, None]}).tolist()[0] == 2.0  # type: ignore[union-attr]


def test_labels_are_names_where_there_are_some() -> None:
    arrays = {"prediction.p": LOGITS, "ground_truth.y": np.array([2.0, np.nan])}
    found = label_columns([Labels("prediction.p", 3, ("a", "b", "c")), Labels("ground_truth.y", 3)], arrays)
    assert found == {"prediction.p.label": ["b", "a"], "ground_truth.y.label": [2, None]}


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([1, 3]),
    st.sampled_from([(0.0, 1.0), (0.0, 255.0), (-1.0, 1.0), (-3.0, 3.0)]),
)
def test_a_batch_of_thumbnails_shows_what_single_previews_show(
    height: int, width: int, channels: int, limits: tuple[float, float]
) -> None:
    images = np.random.default_rng(0).uniform(*limits, size=(2, height, width, channels)).astype(np.float32)
    for image, png in zip(images, thumbnails(images), strict=True):
        one = np.asarray(Image.open(io.BytesIO(png)))
        other = np.asarray(Image.open(io.BytesIO(preview_png(LeapImage(image)))))
        assert one.shape == other.shape
        assert np.abs(one.astype(int) - other).max() <= 1
