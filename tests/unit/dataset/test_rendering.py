"""Pictures, previews, pages and typed data of everything that visualizers return."""

import base64
import io
import json
import re
import subprocess
import sys
import wave
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.rendering import preview_png, render_html, render_png, typed_data, visualize
from cutaway.dataset.rendering.axes import Axis
from cutaway.dataset.visualizer_classes import (
    BoundingBox,
    LeapAudio,
    LeapGraph,
    LeapHorizontalBar,
    LeapImage,
    LeapImageMask,
    LeapImageWithBBox,
    LeapImageWithHeatmap,
    LeapObject,
    LeapText,
    LeapTextMask,
    LeapVideo,
)
from cutaway.errors import ConfigurationError

RNG = np.random.default_rng(11)
PHOTO = RNG.integers(0, 256, (40, 60, 3), np.uint8)
HOSTILE = "<img src=x onerror=alert(1)>\"'&\n\x00\u202e"
ONES = np.ones(2, np.float32)

OBJECTS: dict[LeapDataType, LeapObject] = {
    LeapDataType.Image: LeapImage(PHOTO),
    LeapDataType.Video: LeapVideo(RNG.random((5, 8, 8, 1), np.float32)),
    LeapDataType.Graph: LeapGraph(RNG.normal(size=(30, 2)).astype(np.float32), HOSTILE, HOSTILE, (0.0, 3.0)),
    LeapDataType.Text: LeapText([HOSTILE, "", "b"], np.array([1.0, 0.0, -1.0], np.float32)),
    LeapDataType.HorizontalBar: LeapHorizontalBar(ONES, [HOSTILE, "b"], ONES),
    LeapDataType.ImageMask: LeapImageMask(np.ones((40, 60), np.uint8), PHOTO, ["background", HOSTILE]),
    LeapDataType.TextMask: LeapTextMask(np.array([0, 1], np.uint8), [HOSTILE, "b"], ["background", HOSTILE]),
    LeapDataType.ImageWithBBox: LeapImageWithBBox(
        PHOTO, [BoundingBox(0.5, 0.5, 0.4, 0.3, 0.9, HOSTILE, 30.0, {HOSTILE: HOSTILE, "n": np.float32(2)})]
    ),
    LeapDataType.ImageWithHeatmap: LeapImageWithHeatmap(PHOTO, RNG.normal(size=(2, 5, 7)), ["a", HOSTILE]),
    LeapDataType.Audio: LeapAudio(np.sin(np.arange(4000) / 9).astype(np.float32), 8000),
}


def opened(png: bytes) -> Image.Image:
    assert png.startswith(b"\x89PNG")
    picture = Image.open(io.BytesIO(png))
    picture.load()
    return picture


@pytest.mark.parametrize("kind", LeapDataType)
class TestEveryType:
    """Each type can be shown in each way, hostile words and all."""

    def test_it_becomes_a_picture_that_is_not_empty(self, kind: LeapDataType) -> None:
        picture = opened(render_png(OBJECTS[kind]))
        assert max(picture.size) >= 200
        assert len(picture.convert("RGB").getcolors(1_000_000) or []) > 1

    def test_it_becomes_a_small_picture(self, kind: LeapDataType) -> None:
        for size in (64, 32, 3, 1):
            assert 1 <= max(opened(preview_png(OBJECTS[kind], size)).size) <= size

    def test_its_page_holds_no_foreign_markup(self, kind: LeapDataType) -> None:
        page = render_html(OBJECTS[kind])
        seen = Tags()
        seen.feed(page)
        assert "script" not in seen.names
        assert not [name for name, attributes in seen.all for key, _ in attributes if key.startswith("on")]
        sources = [value for _, attributes in seen.all for key, value in attributes if key in ("src", "href")]
        assert all(str(source).startswith("data:") for source in sources)
        assert page.encode("utf-8")

    def test_its_data_survives_json(self, kind: LeapDataType) -> None:
        data = typed_data(OBJECTS[kind])
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["type"] == kind.value

    def test_drawing_twice_gives_the_same_bytes(self, kind: LeapDataType) -> None:
        assert render_png(OBJECTS[kind]) == render_png(OBJECTS[kind])
        assert preview_png(OBJECTS[kind]) == preview_png(OBJECTS[kind])


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[str, Sequence[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, attrs))

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.all}


def restored(data: dict[str, Any]) -> Any:
    dtype = np.dtype(data["dtype"]).newbyteorder("<")
    return np.frombuffer(base64.b64decode(data["data"]), dtype).reshape(data["shape"])


class TestImages:
    """Pixels are what they are."""

    def test_a_small_image_is_enlarged_to_whole_squares(self) -> None:
        image = RNG.integers(0, 256, (28, 28, 1), np.uint8)
        picture = np.asarray(opened(render_png(LeapImage(image))))
        assert picture.shape == (280, 280)
        np.testing.assert_array_equal(picture[::10, ::10], image[..., 0])

    def test_a_large_image_is_reduced_in_proportion(self) -> None:
        assert opened(render_png(LeapImage(np.zeros((100, 3000, 3), np.uint8)))).size == (1024, 34)
        assert opened(render_png(LeapImage(np.zeros((1, 50_000, 1), np.uint8)))).size == (1024, 1)

    def test_a_preview_keeps_proportions_and_is_never_enlarged(self) -> None:
        small = RNG.random((28, 20, 3), np.float32)
        preview = np.asarray(opened(preview_png(LeapImage(small))))
        np.testing.assert_array_equal(preview, np.floor(small * np.float32(255) + np.float32(0.5)).astype(np.uint8))
        assert opened(preview_png(LeapImage(np.zeros((480, 640, 3), np.uint8)))).size == (64, 48)
        assert opened(preview_png(LeapImage(np.zeros((2000, 10, 1), np.uint8)), 32)).size == (1, 32)

    def test_contrast_is_not_stretched(self) -> None:
        faint = np.full((8, 8, 1), 0.5, np.float32)
        faint[0] = 0.51
        assert set(np.unique(np.asarray(opened(preview_png(LeapImage(faint)))))) == {128, 130}

    def test_an_image_that_is_a_view_of_another_is_drawn(self) -> None:
        turned = PHOTO.transpose(1, 0, 2)[::-1]
        np.testing.assert_array_equal(np.asarray(opened(preview_png(LeapImage(turned)))), turned)

    def test_a_mask_tints_its_pixels_and_leaves_the_background(self) -> None:
        mask = np.zeros((40, 60), np.uint8)
        mask[:, 30:] = 1
        preview = np.asarray(opened(preview_png(LeapImageMask(mask, PHOTO, ["Background", "cat"]))))
        np.testing.assert_array_equal(preview[:, :30], PHOTO[:, :30])
        assert (preview[:, 30:] != PHOTO[:, 30:]).any(axis=-1).all()

    def test_a_box_lies_around_its_centre(self) -> None:
        value = LeapImageWithBBox(np.zeros((60, 60, 3), np.uint8), [BoundingBox(0.5, 0.25, 0.2, 0.1, 1.0, "a")])
        rows, columns = np.nonzero(np.asarray(opened(preview_png(value, 60))).any(axis=-1))
        assert (columns.min(), columns.max()) == pytest.approx((24, 36), abs=1)
        assert (rows.min(), rows.max()) == pytest.approx((12, 18), abs=1)

    def test_a_turned_box_turns_clockwise(self) -> None:
        value = LeapImageWithBBox(np.zeros((60, 60, 3), np.uint8), [BoundingBox(0.5, 0.5, 0.8, 0.02, 1.0, "a", 45.0)])
        drawn = np.asarray(opened(preview_png(value, 60))).any(axis=-1)
        assert drawn[30:, 30:].sum() > drawn[:30, 30:].sum() + 10

    def test_heat_is_warm_where_it_is_positive_and_blue_where_it_is_negative(self) -> None:
        heat = np.array([[[1.0, -1.0]]], np.float32)
        preview = np.asarray(
            opened(preview_png(LeapImageWithHeatmap(np.full((10, 40, 3), 0.5, np.float32), heat, ["a"])))
        )
        left, right = preview[5, 2].astype(int), preview[5, -3].astype(int)
        assert left[0] > left[2] + 50
        assert right[2] > right[0] + 50

    def test_a_heat_map_of_zeros_leaves_the_image_grey(self) -> None:
        value = LeapImageWithHeatmap(np.full((10, 10, 3), 0.5, np.float32), np.zeros((1, 2, 2), np.float32), ["a"])
        assert np.unique(np.asarray(opened(preview_png(value)))).tolist() == [128]

    def test_a_video_moves_and_long_ones_are_thinned(self) -> None:
        def frames_of(count: int) -> int:
            data = RNG.integers(0, 256, (count, 4, 4, 1), np.uint8)
            return int(getattr(opened(render_png(LeapVideo(data))), "n_frames", 1))

        assert (frames_of(1), frames_of(3), frames_of(500)) == (1, 3, 120)


class TestCharts:
    """Numbers are drawn where they are, however many, large or missing."""

    @pytest.mark.parametrize(
        "data",
        [
            np.zeros((1, 1)),
            np.full((5, 1), np.nan),
            np.full((5, 1), 7.0),
            np.array([[1.0], [np.nan], [2.0], [np.nan]]),
            np.array([[-1e300], [1e300]]),
            np.array([[1e-300], [2e-300]]),
            np.array([[1e16], [1e16 + 2]]),
            np.zeros((10, 200)),
            RNG.normal(size=(100_000, 2)),
        ],
        ids=lambda data: f"{data.shape}",
    )
    def test_odd_graphs_are_drawn(self, data: Any) -> None:
        assert opened(render_png(LeapGraph(data))).size == (640, 360)
        assert opened(preview_png(LeapGraph(data))).size == (64, 48)

    def test_a_single_spike_among_a_hundred_thousand_points_is_seen(self) -> None:
        data = np.zeros((100_000, 1))
        data[54_321] = 1.0
        drawn = np.asarray(opened(preview_png(LeapGraph(data)))).min(axis=-1) < 200
        assert drawn[:10].any()

    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [
            (0, 1, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
            (-3, 12, (0.0, 5.0, 10.0)),
            (0, 70_000, (0.0, 20_000.0, 40_000.0, 60_000.0)),
            (5, 5, (5,)),
        ],
    )
    def test_axes_have_round_numbers(self, low: float, high: float, expected: tuple[float, ...]) -> None:
        assert Axis(low, high).ticks(5) == expected

    @pytest.mark.parametrize("body", [[0.0, 0.0], [-1.0, -2.0], [1e300, -1e300], [1e-30, 0.0]])
    def test_odd_bars_are_drawn(self, body: list[float]) -> None:
        value = LeapHorizontalBar(np.array(body), ["a", "b"])
        assert opened(render_png(value)).width == 640
        assert opened(preview_png(value)).size == (64, 48)

    def test_of_many_bars_the_largest_are_drawn_and_the_true_one(self) -> None:
        body, truth = np.linspace(0.1, 0.9, 1000), np.zeros(1000)
        truth[3] = 1.0
        page = render_html(LeapHorizontalBar(body, [f"class-{index}." for index in range(1000)], truth))
        shown = {int(number) for number in re.findall(r"class-(\d+)\.", page)}
        assert shown == {3, *range(981, 1000)}
        assert "and 980 smaller ones" in page

    def test_sound_is_a_wav_file_that_plays(self) -> None:
        for data in (np.array([0.0, 0.5, -2.0, 1.0], np.float32), np.array([0, 16384, -32767, 32767], np.int16)):
            for channels in (1, 2):
                value = LeapAudio(np.repeat(data[:, np.newaxis], channels, axis=1), 8000)
                with wave.open(io.BytesIO(base64.b64decode(typed_data(value)["wav"]))) as reader:
                    assert (reader.getnchannels(), reader.getframerate(), reader.getnframes()) == (channels, 8000, 4)
                    played = np.frombuffer(reader.readframes(4), "<i2").reshape(4, channels)
                np.testing.assert_allclose(played[:, 0], [0, 16384, -32767, 32767], atol=1)
        assert opened(render_png(LeapAudio(np.zeros(1, np.float32), 8000))).size == (640, 360)

    def test_a_page_plays_sound(self) -> None:
        assert 'src="data:audio/wav;base64,' in render_html(OBJECTS[LeapDataType.Audio])


class TestTexts:
    """Words stay words, and many of them stay bearable."""

    def test_words_stand_in_the_page_escaped(self) -> None:
        page = render_html(LeapText(["<script>alert(1)</script>", "a & b"]))
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "a &amp; b" in page
        assert "<script" not in page

    @pytest.mark.parametrize("tokens", [[], [""], ["", ""], ["x" * 100_000], ["a"] * 100_000, ["\ud800", "日本", "\n"]])
    def test_odd_texts_are_drawn(self, tokens: list[str]) -> None:
        value = LeapText(tokens)
        assert opened(render_png(value)).height < 1500
        assert opened(preview_png(value)).width == 64
        render_html(value).encode("utf-8")
        json.dumps(typed_data(value)).encode("utf-8")

    def test_what_does_not_fit_is_counted(self) -> None:
        page = render_html(LeapText(["a"] * 20_007))
        assert "and 7 more tokens" in page

    def test_labels_of_a_mask_are_named_where_they_are_used(self) -> None:
        page = render_html(LeapTextMask(np.array([2], np.uint8), ["x"], ["background", "unused-label", "used-label"]))
        assert "used-label" in page
        assert "unused-label" not in page


def test_typed_arrays_come_back_bit_for_bit() -> None:
    image = RNG.normal(size=(4, 5, 3)).astype(">f4")
    data = typed_data(LeapImage(image, compress=False))
    np.testing.assert_array_equal(restored(data["image"]), image)
    assert (data["image"]["dtype"], data["image"]["scale"], data["compress"]) == ("float32", [-3, 3], False)
    mask = np.arange(20, dtype=np.uint8).reshape(4, 5) % 2
    both = typed_data(LeapImageMask(mask, image, ["a", "b"]))
    np.testing.assert_array_equal(restored(both["mask"]), mask)


def test_metadata_of_boxes_becomes_plain() -> None:
    metadata = {"n": np.int64(3), "bad": float("nan"), "list": (1, "a"), "object": Path("x"), 4: {"deep": np.bool_(1)}}
    value = LeapImageWithBBox(PHOTO, [BoundingBox(0.5, 0.5, 0.1, 0.1, 0.5, "a", metadata=metadata)])  # type: ignore[arg-type]
    assert typed_data(value)["boxes"][0]["metadata"] == {
        "n": 3,
        "bad": None,
        "list": [1, "a"],
        "object": "x",
        "4": {"deep": True},
    }


class TestVisualize:
    """For whoever writes a visualizer."""

    def test_a_notebook_shows_the_picture(self) -> None:
        shown = visualize(LeapImage(PHOTO))
        assert shown._repr_png_() == render_png(LeapImage(PHOTO))
        assert "bytes" in repr(shown)

    def test_a_file_is_written_and_its_path_returned(self, tmp_path: Path) -> None:
        picture = visualize(LeapImage(PHOTO), tmp_path / "sample.PNG")
        assert picture.read_bytes() == render_png(LeapImage(PHOTO))
        page = visualize(LeapImage(PHOTO), str(tmp_path / "sample.html"))
        assert page.read_text(encoding="utf-8") == render_html(LeapImage(PHOTO))

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match=r"\.png or \.html, but got .*sample\.jpg"):
            visualize(LeapImage(PHOTO), tmp_path / "sample.jpg")


def test_what_no_visualizer_returns_is_refused_by_its_type() -> None:
    for show in (render_png, preview_png, render_html, typed_data):
        with pytest.raises(ConfigurationError, match="ndarray"):
            show(PHOTO)  # type: ignore[operator]
    with pytest.raises(ConfigurationError, match="size=0"):
        preview_png(LeapImage(PHOTO), 0)


def test_importing_the_data_set_loads_no_drawing() -> None:
    code = "import sys, cutaway.dataset, cutaway.dataset.rendering; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_threads_draw_the_same_as_one() -> None:
    values = list(OBJECTS.values()) * 8
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(preview_png, values))
    assert drawn == [preview_png(value) for value in values]
