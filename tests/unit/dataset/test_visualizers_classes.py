"""What visualizers return checks itself: the invariant and the values that break it are in every message."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.value_range import as_bytes, scale_of
from cutaway.dataset.visualizer_classes import (
    VISUALIZER_CLASSES,
    BoundingBox,
    LeapAudio,
    LeapGraph,
    LeapHorizontalBar,
    LeapImage,
    LeapImageMask,
    LeapImageWithBBox,
    LeapImageWithHeatmap,
    LeapText,
    LeapTextMask,
    LeapVideo,
)
from cutaway.errors import ConfigurationError

IMAGE = np.zeros((4, 5, 3), np.uint8)
F32 = np.float32


def f32(*shape: int, value: float = 0.0) -> Any:
    return np.full(shape, value, F32)


HEALTHY: dict[LeapDataType, Callable[[], Any]] = {
    LeapDataType.Image: lambda: LeapImage(IMAGE),
    LeapDataType.Video: lambda: LeapVideo(f32(2, 4, 5, 1)),
    LeapDataType.Graph: lambda: LeapGraph(f32(5, 2), "x", "y", (0.0, 1.0)),
    LeapDataType.Text: lambda: LeapText(["a", ""], f32(2)),
    LeapDataType.HorizontalBar: lambda: LeapHorizontalBar(f32(2), ["a", "b"], f32(2)),
    LeapDataType.ImageMask: lambda: LeapImageMask(np.ones((4, 5), np.uint8), IMAGE, ["a", "b"]),
    LeapDataType.TextMask: lambda: LeapTextMask(np.array([0, 1], np.uint8), ["x", "y"], ["a", "b"]),
    LeapDataType.ImageWithBBox: lambda: LeapImageWithBBox(IMAGE, [BoundingBox(0.5, 0.5, 0.2, 0.2, 0.9, "cat")]),
    LeapDataType.ImageWithHeatmap: lambda: LeapImageWithHeatmap(f32(4, 5, 3), f32(2, 2, 2), ["a", "b"]),
    LeapDataType.Audio: lambda: LeapAudio(f32(8, 2), 8000),
}


@pytest.mark.parametrize("kind", LeapDataType)
def test_every_type_has_one_class_that_cannot_be_changed(kind: LeapDataType) -> None:
    value = HEALTHY[kind]()
    assert type(value) is VISUALIZER_CLASSES[kind]
    assert value.type is kind
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, dataclasses.fields(value)[0].name, None)


NAN_IMAGE = f32(4, 5, 3)
NAN_IMAGE[0, 0, 0] = np.nan

SICK: list[tuple[Callable[[], Any], str]] = [
    (lambda: LeapImage([[0]]), "must be a numpy array, but got builtins.list"),  # type: ignore[arg-type]
    (lambda: LeapImage(f32(4, 5)), r"3 axes, but got shape \(4, 5\)"),
    (lambda: LeapImage(f32(3, 4, 5)), r"1 or 3 channels, but got shape \(3, 4, 5\). Channels come last"),
    (lambda: LeapImage(f32(4, 0, 3)), "must not be empty"),
    (lambda: LeapImage(np.zeros((4, 5, 3), np.int64)), r"uint8 or float, but got int64. Use `data.astype"),
    (lambda: LeapImage(NAN_IMAGE), "1 of 60 values NaN or infinite"),
    (lambda: LeapVideo(f32(4, 5, 3)), "4 axes"),
    (lambda: LeapGraph(f32(5)), "2 axes"),
    (lambda: LeapGraph(np.zeros((5, 1), np.int32)), "must be float, but got int32"),
    (lambda: LeapGraph(f32(5, 1, value=np.inf)), "at most 1e300 in size, but got inf"),
    (lambda: LeapHorizontalBar(np.array([1e305]), ["a"]), "at most 1e300 in size, but got 1e"),
    (lambda: LeapGraph(f32(5, 1), x_range=(1.0, 1.0)), r"first < last"),
    (lambda: LeapText("a b"), "list of texts, but got str"),
    (lambda: LeapText(["a", 3]), "number 1 is int: 3"),  # type: ignore[list-item]
    (lambda: LeapText(["a"], f32(2)), "1 tokens and 2 values in `heatmap`"),
    (lambda: LeapHorizontalBar(f32(2), ["a"]), "1 labels and 2 values in `body`"),
    (lambda: LeapHorizontalBar(f32(2), ["a", "b"], f32(3)), "values in `gt`"),
    (lambda: LeapHorizontalBar(f32(1, value=np.nan), ["a"]), "NaN"),
    (lambda: LeapImageMask(np.zeros((5, 4), np.uint8), IMAGE, ["a"]), r"\(5, 4\) and \(4, 5\)"),
    (lambda: LeapImageMask(np.full((4, 5), 2, np.uint8), IMAGE, ["a", "b"]), "0 to 1, but got the value 2"),
    (lambda: LeapImageMask(f32(4, 5), IMAGE, ["a"]), "must be uint8"),
    (lambda: LeapTextMask(np.zeros(2, np.uint8), ["x"], ["a"]), "1 tokens and 2"),
    (lambda: LeapTextMask(np.ones(1, np.uint8), ["x"], ["a"]), "0 to 0, but got the value 1"),
    (lambda: LeapImageWithHeatmap(IMAGE, f32(2, 4, 5), ["a"]), "1 labels and 2 heat maps"),
    (lambda: LeapImageWithBBox(IMAGE, ["cat"]), "BoundingBox values, but got 'cat'"),  # type: ignore[list-item]
    (lambda: BoundingBox(120, 80, 30, 30, 0.5, "cat"), "`-1 <= x <= 2` must hold, but got x=120. Boxes are relative"),
    (lambda: BoundingBox(0.5, 0.5, float("nan"), 0.1, 0.5, "cat"), "width=nan"),
    (lambda: BoundingBox(0.5, 0.5, 0.1, 0.1, 50.0, "cat"), "confidence=50.0"),
    (lambda: LeapAudio(f32(8, 3), 8000), "1 or 2 channels"),
    (lambda: LeapAudio(f32(8), 0), "sample_rate > 0"),
]


@pytest.mark.parametrize(("make", "message"), SICK)
def test_what_cannot_be_shown_is_refused_with_its_values(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make()


def test_huge_but_finite_numbers_are_finite() -> None:
    LeapImage(np.full((4, 5, 3), 1e308))


def test_gaps_in_a_graph_are_allowed() -> None:
    LeapGraph(np.array([[0.0], [np.nan], [1.0]], F32))


@pytest.mark.parametrize(
    ("values", "scale", "shown"),
    [
        (np.array([0, 200], np.uint8), "0..255", [0, 200]),
        (np.array([0.0, 0.5, 1.0]), "0..1", [0, 128, 255]),
        (np.array([0.0, 2.0, 255.0]), "0..255", [0, 2, 255]),
        (np.array([0.0, 300.0]), "0..255", [0, 255]),
        (np.array([-1.0, 0.0, 1.0]), "-1..1", [0, 128, 255]),
        (np.array([-3.5, 0.0, 3.0]), "-3..3", [0, 128, 255]),
        (np.array([0.2, 0.4]), "0..1", [51, 102]),
    ],
)
def test_the_range_of_values_is_one_of_four_and_never_stretched(values: Any, scale: str, shown: list[int]) -> None:
    assert str(scale_of(values)) == scale
    assert as_bytes(values.astype(F32) if values.dtype != np.uint8 else values).tolist() == shown
