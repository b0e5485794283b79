"""Which axes of an input are places, for the layouts that models come with."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.heat_maps.baselines import baseline_of
from cutaway.analysis.heat_maps.occlusion import windows_of
from cutaway.analysis.heat_maps.places import InputAxes, input_axes
from cutaway.analysis.heat_maps.rise import Masks
from cutaway.errors import ConfigurationError
from cutaway.models.description import Layer, ModelDescription, TensorSpec
from cutaway.models.model import Model
from tests.unit.analysis.heat_maps.blobs import WEIGHTS, Weighing


def model_with(
    shape: tuple[int | None, ...], axis: int | None, *layers: Layer, channels_last: bool | None = None
) -> Model:
    backend = Weighing(WEIGHTS)
    spec = TensorSpec("x", shape, "", axis)
    backend.description = ModelDescription("toy", (spec,), backend.description.outputs, layers)
    return Model(backend, channels_last=channels_last)


@pytest.mark.parametrize(
    ("shape", "axis", "layers", "sizes"),
    [
        ((2, 28, 28, 3), -1, [], (28, 28)),
        ((2, 3, 28, 30), 1, [], (28, 30)),
        ((2, 1, 4, 5, 6), 1, [], (4, 5, 6)),
        ((2, 8, 8, 1), 1, [Layer("f", "Flatten", (None, 64))], (8, 8)),
        ((2, 1, 8, 8), 1, [Layer("f", "Flatten", (None, 64))], (8, 8)),
        ((2, 8, 9, 3), 1, [Layer("d", "Dropout"), Layer("f", "Flatten", (None, 216))], (8, 9)),
        ((2, 8, 8, 1), 1, [Layer("c", "Conv2d", (None, 4, 8, 1), 1)], (8, 1)),
        ((2, 9), 1, [], (9,)),
        ((2, 3, 40), None, [Layer("c", "Conv1d", (None, 8, None), 1)], (40,)),
        ((2, 3, 40), None, [Layer("c", "Conv1d")], (40,)),
        ((2, 40, 3), None, [Layer("l", "LSTM", (None, 40, 8))], (40,)),
        ((2, 40, 3), -1, [Layer("r", "Rescaling", (None, 40, 3)), Layer("l", "LSTM", (None, 8))], (40,)),
        ((2, 28, 28), -1, [Layer("f", "Flatten", (None, 784))], (28, 28)),
        ((2, 28, 28), None, [Layer("d", "Linear", (None, 10))], (28, 28)),
        ((2, 28, 28), None, [Layer("c", "Conv2d", (None, 4, 28, 28), 1)], (28, 28)),
        ((2, 40, 3), None, [], (40,)),
    ],
)
def test_places_of_every_layout(
    shape: tuple[int, ...], axis: int | None, layers: list[Layer], sizes: tuple[int, ...]
) -> None:
    model = model_with((None, *shape[1:]), axis, *layers)
    assert input_axes(model, "x", np.zeros(shape, np.float32)).sizes == sizes


def test_batches_given_in_another_layout_have_their_channels_where_they_were_given() -> None:
    model = model_with((None, 3, 28, 30), 1, channels_last=True)
    assert input_axes(model, "x", np.zeros((2, 28, 30, 3), np.float32)).sizes == (28, 30)


class TestWindows:
    def test_defaults_follow_the_size_and_cover_every_place(self) -> None:
        for shape, channel in (((1, 224, 224, 3), 3), ((1, 28, 28, 1), 3), ((1, 100, 2), 2), ((1, 3, 3, 1), 3)):
            axes = InputAxes("x", shape, channel)
            windows, _, _ = windows_of(axes, None, None)
            seen = np.zeros(axes.sizes)
            for window in windows:
                seen[window] += 1
            assert seen.min() >= 1
            assert len(windows) < 300
        assert windows_of(InputAxes("x", (1, 12), None, whole=True), None, None)[1] == (1,)

    def test_windows_that_leave_places_out_or_do_not_fit_are_refused(self) -> None:
        axes = InputAxes("x", (1, 10, 8, 1), 3)
        for window, stride in ((2, 3), (9, 1), (0, 1), ((2,), 1), ((2, 2, 2), 1)):
            with pytest.raises(ConfigurationError, match="window"):
                windows_of(axes, window, stride)
        assert len(windows_of(axes, (10, 8), 1)[0]) == 1


class TestMasks:
    def test_masks_do_not_depend_on_how_many_are_made_at_once(self) -> None:
        whole = Masks((20, 13), 30, 5, hard=False)[slice(0, 30)]
        again = Masks((20, 13), 30, 5, hard=False)
        assert np.array_equal(whole, np.concatenate([again[slice(i, i + 7)] for i in range(0, 30, 7)]))
        assert whole.min() >= 0
        assert whole.max() <= 1
        assert not np.array_equal(whole, Masks((20, 13), 30, 6, hard=False)[slice(0, 30)])

    def test_about_half_is_left_everywhere(self) -> None:
        for sizes in ((28, 28), (100,), (2, 3), (1, 1), (6, 7, 8)):
            left = Masks(sizes, 2000, 0, hard=False)[slice(0, 2000)].mean(axis=0)
            assert left.shape == sizes
            assert np.abs(left - 0.5).max() < 0.07
        assert set(np.unique(Masks((9,), 50, 0, hard=True)[slice(0, 50)])) == {0.0, 1.0}


class TestBaselines:
    axes = InputAxes("x", (2, 8, 6, 3), 3)
    values = np.random.default_rng(0).random((2, 8, 6, 3)).astype(np.float32)

    def test_a_blur_keeps_the_mean_about_and_takes_the_edges_away(self) -> None:
        blurred, words = baseline_of(self.values, self.axes, "blur")
        assert "blurred" in words
        assert np.abs(blurred.mean((1, 2)) - self.values.mean((1, 2))).max() < 0.1
        assert np.abs(np.diff(blurred, axis=1)).max() < np.abs(np.diff(self.values, axis=1)).max() / 2

    def test_shapes_and_types_must_fit(self) -> None:
        with pytest.raises(ConfigurationError, match=r"shape of a sample, \(8, 6, 3\), but it has \(5,\)"):
            baseline_of(self.values, self.axes, np.zeros(5))
        with pytest.raises(ConfigurationError, match="must be numbers"):
            baseline_of(self.values, self.axes, np.array("x"))
        whole = InputAxes("x", (2, 4), None, whole=True)
        with pytest.raises(ConfigurationError, match="whole numbers"):
            baseline_of(np.ones((2, 4), np.int64), whole, 0.5)
