"""What goes between the server and a worker, and how much of a visual a page gets."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from cutaway.dataset.functions import Field
from cutaway.dataset.visualizer_classes import (
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
from cutaway.engine.messages import BadMessage
from cutaway.studio.workers.questions import bounding
from cutaway.studio.workers.questions.bounding import bounded_data
from cutaway.studio.workers.questions.uploads import fitted_upload
from cutaway.studio.workers.values import from_plain, to_plain

_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.just("$array"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_PLAIN)
def test_what_json_holds_comes_back_whatever_its_keys_are(value: Any) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(value)))) == value


@given(arrays(st.sampled_from([np.uint8, np.int64, np.float32, np.bool_]), array_shapes(max_side=4, min_side=0)))
def test_arrays_and_bytes_come_back_as_they_were(values: np.ndarray) -> None:
    found = from_plain(json.loads(json.dumps(to_plain({"a": [values, values.tobytes()]}))))["a"]
    assert found[0].dtype == values.dtype
    assert np.array_equal(found[0], values, equal_nan=values.dtype.kind == "f")
    assert found[1] == values.tobytes()


def test_numbers_that_json_has_no_word_for_are_missing() -> None:
    assert to_plain([float("nan"), np.float64("inf"), 1.5]) == [None, None, 1.5]


@pytest.mark.parametrize(
    "hostile",
    [
        {"$array": "AAAA", "dtype": "|O", "shape": [1]},
        {"$array": "AAAA", "dtype": "<f4", "shape": [10**12]},
        {"$array": "AAAA", "dtype": "nonsense", "shape": [1]},
        {"$array": "AAAA", "dtype": "<f4"},
        {"$array": 5, "dtype": "<f4", "shape": [1]},
        {"$bytes": "not base64!"},
        {"$bytes": None},
    ],
)
def test_what_was_not_sent_by_us_is_no_value(hostile: Any) -> None:
    with pytest.raises(BadMessage):
        from_plain({"a": [hostile]})


def _shape(data: dict[str, Any], name: str) -> list[int]:
    return list(data[name]["shape"])


def test_what_is_small_is_left_as_it_is_and_nothing_is_said() -> None:
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    assert bounded_data(LeapImage(image))["notes"] == []
    assert _shape(bounded_data(LeapImage(image)), "image") == [4, 4, 3]
    assert bounded_data(LeapText(["a"]))["tokens"] == ["a"]


def test_large_images_are_shown_smaller_with_what_lies_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "LONGEST_SIDE", 8)
    image = np.random.default_rng(0).integers(0, 255, (20, 17, 3)).astype(np.uint8)
    mask = np.zeros((20, 17), np.uint8)
    shown = bounded_data(LeapImage(image))
    assert _shape(shown, "image") == [6, 5, 3]
    assert shown["notes"] == ["Shown smaller: 17 x 20 pixels as 5 x 6."]
    masked = bounded_data(LeapImageMask(mask, image, ["a"]))
    assert _shape(masked, "mask") == _shape(masked, "image")[:2]
    heat = bounded_data(LeapImageWithHeatmap(image, np.zeros((2, 20, 17), np.float32), ["a", "b"]))
    assert _shape(heat, "heatmaps") == [2, 6, 5]
    boxes = bounded_data(LeapImageWithBBox(image, [BoundingBox(0.5, 0.5, 0.1, 0.1, 1.0, "a")]))
    assert boxes["boxes"][0]["x"] == 0.5
    assert _shape(bounded_data(LeapImage(np.zeros((1, 90, 1), np.uint8))), "image") == [1, 8, 1]


def test_long_films_texts_curves_and_sounds_are_cut_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("TOKENS", 3), ("FRAMES", 4), ("POINTS", 5), ("BARS", 2), ("AUDIO", 6)):
        monkeypatch.setattr(bounding, f"MOST_{name}", most)
    film = bounded_data(LeapVideo(np.zeros((9, 2, 2, 1), np.uint8)))
    assert (_shape(film, "frames")[0], film["notes"]) == (4, ["4 of 9 frames are shown, at even distances."])
    text = bounded_data(LeapText(list("abcde"), np.zeros(5, np.float32)))
    assert (text["tokens"], _shape(text, "heatmap")) == (["a", "b", "c"], [3])
    masked = bounded_data(LeapTextMask(np.zeros(5, np.uint8), list("abcde"), ["x"]))
    assert (masked["tokens"], _shape(masked, "mask")) == (["a", "b", "c"], [3])
    curve = bounded_data(LeapGraph(np.zeros((11, 1), np.float32)))
    assert (_shape(curve, "data"), curve["notes"]) == ([4, 1], ["One in 3 of 11 points is shown."])
    bars = bounded_data(LeapHorizontalBar(np.zeros(3, np.float32), list("abc")))
    assert (bars["labels"], bars["notes"]) == (["a", "b"], ["The first 2 of 3 bars are shown."])
    sound = bounded_data(LeapAudio(np.zeros(12, np.float32), 1))
    assert (_shape(sound, "data"), sound["notes"]) == ([6], ["The first 6 s of 12 s can be heard."])


def test_what_is_still_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="at most 100"):
        bounded_data(LeapImage(np.zeros((40, 40, 1), np.uint8)))


@pytest.mark.parametrize("first", [False, True])
def test_a_picture_is_laid_as_the_encoder_lays_it(first: bool) -> None:
    made = io.BytesIO()
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[..., 2] = 255
    Image.fromarray(pixels).save(made, "PNG")
    like = np.full((3, 4, 6) if first else (4, 6, 3), -0.5, np.float32)
    values, notes = fitted_upload(made.getvalue(), Field("image", channel_dim=1 if first else -1), like)
    assert (values.shape, values.dtype) == (like.shape, like.dtype)
    blue = values[2] if first else values[..., 2]
    red = values[0] if first else values[..., 0]
    assert (blue == 1).all()
    assert (red == -1).all()
    assert notes[0].startswith("Scaled to -1..1")
