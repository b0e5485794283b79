"""The default visualizers, and which of them an input gets that nobody wrote one for."""

from typing import Any

import numpy as np
import pytest

from cutaway.dataset.default_visualizers import guess_visualizer
from cutaway.dataset.enums import DatasetInputType
from cutaway.dataset.functions import Field
from cutaway.dataset.rendering import preview_png
from cutaway.dataset.visualizer_classes import VISUALIZER_CLASSES
from cutaway.errors import ConfigurationError

# What each is guessed for.
GUESSED: dict[str, Any] = {
    "Image": guess_visualizer(Field("x", type=DatasetInputType.Image), np.zeros((8, 8))),
    "Graph": guess_visualizer(Field("x"), np.zeros((100, 3))),
    "RawData": guess_visualizer(Field("x"), np.float32(3)),
    "HorizontalBar": guess_visualizer(Field("x"), np.zeros(3)),
    "Text": guess_visualizer(Field("x"), "some words"),
}


def show(name: str, data: Any) -> Any:
    visualizer = GUESSED[name]
    shown = visualizer.function(data=data)
    assert (visualizer.name, type(shown)) == (name, VISUALIZER_CLASSES[visualizer.visualizer_type])
    return shown


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(6, 7), (6, 7, 1), (6, 7, 3)])
def test_an_image_of_any_numbers_is_shown(dtype: Any, shape: tuple[int, ...]) -> None:
    assert show("Image", np.ones(shape, dtype)).data.shape == (6, 7, shape[2] if len(shape) == 3 else 1)


def test_what_is_no_image_is_refused_and_says_where_channels_go() -> None:
    with pytest.raises(ConfigurationError, match="Channels come last"):
        show("Image", np.zeros((3, 6, 7), np.float32))
    with pytest.raises(ConfigurationError, match="int64"):
        show("Image", np.full((6, 7), 4000))


def test_vectors_are_lines_and_bars() -> None:
    assert show("Graph", np.arange(5)).data.tolist() == [[0.0], [1.0], [2.0], [3.0], [4.0]]
    assert show("Graph", np.zeros((5, 2), np.float32)).data.shape == (5, 2)
    bar = show("HorizontalBar", np.array([0.25, 0.75]))
    assert (bar.body.tolist(), list(bar.labels)) == ([0.25, 0.75], ["0", "1"])


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        ("two words", ["two", "words"]),
        (np.array("two words"), ["two", "words"]),
        (["one token", "b"], ["one token", "b"]),
        (np.array([b"caf\xc3\xa9", b"\xff"]), ["café", "\ufffd"]),
        (np.array([3, 14]), ["3", "14"]),
    ],
)
def test_text_is_shown_as_tokens(data: Any, tokens: list[str]) -> None:
    assert list(show("Text", data).data) == tokens


def test_raw_data_says_what_it_is_and_stays_short() -> None:
    assert list(show("RawData", np.array([1, 2], np.int16)).data) == ["int16", "(2,)", "[1", "2]"]
    assert len(show("RawData", np.zeros(1_000_000)).data) < 300


@pytest.mark.parametrize(
    ("field", "sample", "name"),
    [
        (Field("x"), np.zeros((28, 28), np.float32), "Image"),
        (Field("x"), np.zeros((28, 28, 1), np.uint8), "Image"),
        (Field("x"), np.zeros((28, 28, 3)), "Image"),
        (Field("x", channel_dim=1), np.zeros((3, 28, 28)), "Image"),
        (Field("x", channel_dim=1), np.zeros((28, 28)), "Image"),
        (Field("x", type=DatasetInputType.Image), np.zeros((4, 4)), "Image"),
        (Field("x"), np.zeros((3, 28, 28)), "RawData"),
        (Field("x", channel_dim=1), np.zeros((28, 28, 3)), "RawData"),
        (Field("x"), np.zeros((28, 28, 7)), "RawData"),
        (Field("x"), np.zeros((4, 28, 28, 3)), "RawData"),
        (Field("x"), np.float32(3), "RawData"),
        (Field("x"), np.zeros((0,)), "RawData"),
        (Field("x"), np.zeros(10), "HorizontalBar"),
        (Field("x"), np.zeros(33), "Graph"),
        (Field("x", labels=tuple("abcdefghij" * 4)), np.zeros(40), "HorizontalBar"),
        (Field("x"), np.zeros((100, 3)), "Graph"),
        (Field("x"), np.array(["a", "b"]), "Text"),
        (Field("x"), "some words", "Text"),
        (Field("x", type=DatasetInputType.Text), np.arange(20), "Text"),
    ],
)
def test_an_input_gets_the_visualizer_that_the_rules_name(field: Field, sample: Any, name: str) -> None:
    visualizer = guess_visualizer(field, sample)
    assert visualizer.name == name
    assert preview_png(visualizer.function(data=np.asarray(sample))).startswith(b"\x89PNG")


def test_channels_first_are_moved_as_declared() -> None:
    sample = np.random.default_rng(0).random((3, 28, 30), np.float32)
    shown = guess_visualizer(Field("x", channel_dim=1), sample).function(data=sample)
    np.testing.assert_array_equal(shown.data, sample.transpose(1, 2, 0))


def test_declared_labels_name_the_bars() -> None:
    visualizer = guess_visualizer(Field("x", labels=("cat", "dog")), np.array([0.0, 1.0]))
    assert list(visualizer.function(data=np.array([0.0, 1.0])).labels) == ["cat", "dog"]
