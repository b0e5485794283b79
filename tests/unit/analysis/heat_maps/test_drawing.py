"""Heat maps over their samples: through somebody's heat-map visualizer, through their visualizer alone, by default."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cutaway.analysis.heat_maps.drawing import DrawnMap, drawn_map
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.dataset import Dataset
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.functions import Field, Visualizer
from cutaway.dataset.visualizer_classes import (
    LeapGraph,
    LeapHorizontalBar,
    LeapImage,
    LeapImageWithHeatmap,
    LeapText,
)
from cutaway.evaluation.reopening import Sample
from cutaway.evaluation.wiring import InputWire, Wiring

IMAGE = np.linspace(0, 1, 12 * 16 * 3, dtype=np.float32).reshape(12, 16, 3)


def map_of(values: Any, *, signed: bool = False, loss: str | None = None) -> HeatMap:
    return HeatMap(np.asarray(values, np.float32), "by hand", "model_input", "y", None, 0.0, signed=signed, loss=loss)


def hot(shape: tuple[int, ...], *at: tuple[int, ...]) -> np.ndarray:
    values = np.zeros(shape, np.float32)
    for one in at:
        values[one] = 1
    return values


def drawn(
    sample: np.ndarray,
    one: HeatMap,
    *visualizers: Visualizer,
    field: Field | None = None,
    truths: dict[str, np.ndarray] | None = None,
) -> DrawnMap:
    """Draw a map of the only input, which each visualizer takes as its first argument and a truth as its second."""
    sources = ("input.data", "ground_truth.label")
    wired = {f"visualizer.{v.name}": dict(zip(v.arguments, sources, strict=False)) for v in visualizers}
    dataset = Dataset({}, (field or Field("data"),), visualizers=tuple(visualizers))
    wiring = Wiring({"model_input": InputWire("data")}, {}, {}, wired)
    found = Sample("a", "training", 0, {"data": sample}, truths or {})
    picture = drawn_map(dataset, wiring, found, one)
    assert Image.open(io.BytesIO(picture.png())).width >= 100
    return picture


def visualizer(
    function: Callable[..., Any], kind: LeapDataType, heatmap: Callable[..., Any] | None = None, *more: str
) -> Visualizer:
    return Visualizer("theirs", function, ("data", *more), visualizer_type=kind, heatmap=heatmap)


class TestThroughAVisualizer:
    def test_the_map_follows_the_geometry_of_the_heat_map_function(self) -> None:
        def flipped(data: np.ndarray) -> LeapImage:
            return LeapImage(np.flip(data, axis=1)[:8].copy())

        seen = []

        def heat(data: np.ndarray) -> np.ndarray:
            seen.append(data.shape)
            return np.flip(data, axis=1)[:8]

        found = drawn(IMAGE, map_of(hot((12, 16), (2, 3))), visualizer(flipped, LeapDataType.Image, heat))
        assert seen[0] == (12, 16, 1)
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert found.visual.image.shape == (8, 16, 3)
        assert np.unravel_index(found.visual.heatmaps[0].argmax(), (8, 16)) == (2, 12)

    def test_words_come_from_their_visualizer_and_padding_may_be_left_out(self) -> None:
        tokens = np.array([5, 9, 3, 0, 0], np.int64)
        words = {5: "not", 9: "bad", 3: "<b>"}

        def sentence(data: np.ndarray) -> LeapText:
            return LeapText([words[int(token)] for token in data if token])

        found = drawn(tokens, map_of([1, 2, 3, 4, 5], signed=True), visualizer(sentence, LeapDataType.Text))
        assert isinstance(found.visual, LeapText)
        assert list(found.visual.data) == ["not", "bad", "<b>"]
        assert found.visual.heatmap is not None
        assert found.visual.heatmap.tolist() == [1, 2, 3]

    def test_a_visualizer_of_other_places_is_passed_over(self) -> None:
        def spectrum(data: np.ndarray) -> LeapGraph:
            return LeapGraph(np.abs(np.fft.rfft(data[:, 0]))[:, None].astype(np.float32))

        series = np.sin(np.arange(80, dtype=np.float32))[:, None]
        found = drawn(series, map_of(hot((80,), (7,))), visualizer(spectrum, LeapDataType.Graph))
        assert isinstance(found.visual, LeapGraph)
        assert found.visual.data.shape == (80, 1)
        assert found.heat is not None
        assert found.heat.argmax() == 7

    def test_a_heat_map_function_that_asks_for_all_inputs_gets_them(self) -> None:
        def heat(data: np.ndarray, raw: RawInputsForHeatmap) -> np.ndarray:  # type: ignore[name-defined]  # noqa: F821
            assert raw["data"].shape == IMAGE.shape
            return data[..., 0] * 2

        found = drawn(IMAGE, map_of(hot((12, 16), (1, 1))), visualizer(LeapImage, LeapDataType.Image, heat))
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert found.visual.heatmaps.max() > 0
        assert found.notes == ()

    def test_what_fails_in_their_function_is_noted_and_the_sample_drawn_all_the_same(self) -> None:
        def broken(data: np.ndarray) -> LeapImage:
            raise ValueError(f"no colours for {data.shape}")

        found = drawn(IMAGE, map_of(hot((12, 16), (0, 0))), visualizer(broken, LeapDataType.Image))
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert "test_drawing.py" in found.notes[0]
        assert "no colours for (12, 16, 3)" in found.notes[0]

    def test_one_that_needs_a_ground_truth_which_is_not_there_is_noted(self) -> None:
        def with_label(data: np.ndarray, label: np.ndarray) -> LeapImage:
            return LeapImage(data * label)

        both = visualizer(with_label, LeapDataType.Image, None, "label")
        found = drawn(IMAGE, map_of(hot((12, 16), (0, 0))), both)
        assert "the sample has no ground_truth.label" in found.notes[0]
        assert drawn(IMAGE, map_of(hot((12, 16), (0, 0))), both, truths={"label": np.ones(1, np.float32)}).notes == ()


class TestByDefault:
    @pytest.mark.parametrize("shape", [(12, 16), (12, 16, 1), (12, 16, 3), (12, 16, 7), (3, 12, 16)])
    def test_images_of_any_channels_are_under_their_map(self, shape: tuple[int, ...]) -> None:
        sample = np.random.default_rng(0).random(shape).astype(np.float32)
        field = Field("data", channel_dim=1 if shape[0] == 3 else -1)
        found = drawn(sample, map_of(hot((12, 16), (2, 3))), field=field)
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert found.visual.image.shape[:2] == (12, 16)

    @pytest.mark.parametrize("shape", [(80,), (80, 2), (2, 80), (80, 12)])
    def test_series_have_their_map_behind_their_lines(self, shape: tuple[int, ...]) -> None:
        sample = np.random.default_rng(0).random(shape).astype(np.float32)
        found = drawn(sample, map_of(hot((80,), (60,)), signed=True))
        assert isinstance(found.visual, LeapGraph)
        assert len(found.visual.data) == 80
        picture = np.asarray(Image.open(io.BytesIO(found.png())).convert("RGB")).astype(int)
        # Three quarters along the plot the ground is warm, and white where the map is 0.
        warm = (picture[..., 0] - picture[..., 2] > 60).mean(axis=0)[:600]
        assert abs(int(warm[60:].argmax()) + 60 - 480) < 40

    def test_whole_numbers_in_a_row_are_tokens(self) -> None:
        found = drawn(np.array([4, 5, 6]), map_of([0.5, -1, 0], signed=True, loss="MeanSquaredError"))
        assert isinstance(found.visual, LeapText)
        assert list(found.visual.data) == ["4", "5", "6"]
        assert found.ends == ("lowers the loss", "raises the loss")

    def test_the_columns_of_a_table_are_bars_of_the_map(self) -> None:
        found = drawn(np.array([0.1, 5.0, -2.0], np.float32), map_of([0.5, -1, 0], signed=True))
        assert isinstance(found.visual, LeapHorizontalBar)
        assert found.visual.body.tolist() == [0.5, -1, 0]

    def test_of_a_volume_the_slice_with_the_most_heat_is_shown(self) -> None:
        found = drawn(np.zeros((5, 12, 16), np.float32), map_of(hot((5, 12, 16), (3, 1, 1))))
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert found.notes == ("Slice 3 of 5 is shown, which has the most heat.",)

    def test_places_that_are_not_known_have_no_colour(self) -> None:
        values = hot((12, 16), (2, 3))
        values[0] = np.nan
        found = drawn(IMAGE, map_of(values))
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert (found.visual.heatmaps[0, 0] == 0).all()

    def test_one_place_that_is_far_stronger_does_not_hide_the_others(self) -> None:
        values = np.random.default_rng(0).random((40, 40)).astype(np.float32)
        values[0, 0] = 1e6
        found = drawn(np.zeros((40, 40, 1), np.float32), map_of(values))
        assert isinstance(found.visual, LeapImageWithHeatmap)
        assert found.visual.heatmaps.max() <= 1


def test_colours_tell_for_from_against_and_a_map_without_a_sign_has_no_blue() -> None:
    signed = np.concatenate([np.full((8, 8), -1), np.full((8, 8), 1)], axis=1)

    def picture(one: HeatMap) -> np.ndarray:
        found = drawn(np.full((8, 16, 1), 0.5, np.float32), one)
        return np.asarray(Image.open(io.BytesIO(found.png())).convert("RGB")).astype(int)

    both, alone = picture(map_of(signed, signed=True)), picture(map_of(np.abs(signed)))
    left, right = both[20, 20], both[20, 200]
    assert left[2] > left[0] + 60
    assert right[0] > right[2] + 60
    assert (alone[..., 2] <= alone[..., 0] + 20).all()
