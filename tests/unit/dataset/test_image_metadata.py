"""Image metadata, on images whose values are known."""

import math

import numpy as np
import pytest

from cutaway.arrays import Array
from cutaway.dataset.image_metadata import (
    brightness,
    contrast,
    detect_sharpness,
    estimate_noise,
    get_mean_abs_log_metadata,
    image_metadata,
    lab_channel_stats,
    rgb_channel_stats,
    total_variation,
)
from cutaway.errors import ConfigurationError

COLUMNS = {
    "brightness",
    "contrast",
    "sharpness",
    "mean_abs_log",
    "noise_sigma",
    "noise_laplacian",
    "total_variation",
    *(f"{colour}_{kind}" for colour in ("red", "green", "blue") for kind in ("mean", "std")),
    *(f"lab_{axis}_{kind}" for axis in "lab" for kind in ("mean", "std")),
}


def scene(size: int = 96) -> Array:
    """Something like a photograph: a slope, a disc and a bar, no noise."""
    rows, columns = np.mgrid[:size, :size]
    picture = 60.0 + 80.0 * columns / size
    picture[(rows - size / 3) ** 2 + (columns - size / 2) ** 2 < (size / 5) ** 2] = 200.0
    picture[size * 3 // 4 : size * 5 // 6] = 30.0
    return picture


def blurred(image: Array) -> Array:
    padded = np.pad(image, 1, mode="edge")
    rows, columns = image.shape
    return sum(padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)) / 9.0


@pytest.mark.parametrize("shape", [(16, 20), (16, 20, 1), (16, 20, 3)])
def test_a_constant_image_has_its_brightness_and_nothing_else(shape: tuple[int, ...]) -> None:
    values = image_metadata(np.full(shape, 90, np.uint8))
    assert set(values) == COLUMNS
    assert values["brightness"] == values["red_mean"] == values["green_mean"] == values["blue_mean"] == 90.0
    for name in ("contrast", "sharpness", "mean_abs_log", "noise_sigma", "noise_laplacian", "total_variation"):
        assert values[name] == pytest.approx(0.0, abs=1e-6), name
    assert all(value == pytest.approx(0.0, abs=1e-6) for name, value in values.items() if name.endswith("_std"))


def test_every_value_is_a_plain_number() -> None:
    assert {type(value) for value in image_metadata(scene()).values()} == {float}


def test_floats_and_bytes_of_one_picture_say_the_same() -> None:
    picture = scene().astype(np.uint8)
    expected = image_metadata(picture)
    assert image_metadata(picture / np.float32(255)) == pytest.approx(expected, rel=1e-4, abs=1e-3)
    assert image_metadata(picture.astype(np.float32)) == pytest.approx(expected, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize(
    ("colour", "lab"),
    [
        ((255, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 255, 0), (87.73, -86.18, 83.18)),
        ((0, 0, 255), (32.30, 79.19, -107.86)),
        ((255, 255, 255), (100.0, 0.0, 0.0)),
        ((0, 0, 0), (0.0, 0.0, 0.0)),
        ((119, 119, 119), (50.03, 0.0, 0.0)),
    ],
)
def test_lab_of_known_colours(colour: tuple[int, ...], lab: tuple[float, ...]) -> None:
    stats = lab_channel_stats(np.full((3, 3, 3), colour, np.uint8))
    assert [stats[f"lab_{axis}_mean"] for axis in "lab"] == pytest.approx(lab, abs=0.02)


def test_channels_are_told_apart() -> None:
    image = np.zeros((2, 2, 3), np.uint8)
    image[0, :, 0], image[..., 2] = 100, 40
    assert rgb_channel_stats(image) == {
        "red_mean": 50.0,
        "red_std": 50.0,
        "green_mean": 0.0,
        "green_std": 0.0,
        "blue_mean": 40.0,
        "blue_std": 0.0,
    }
    assert brightness(image) == pytest.approx(0.299 * 50 + 0.114 * 40)


@pytest.mark.parametrize("method", ["sigma", "laplacian"])
@pytest.mark.parametrize("sigma", [4.0, 10.0, 20.0])
def test_added_noise_is_estimated_within_a_fifth(method: str, sigma: float) -> None:
    noisy = scene() + np.random.default_rng(3).normal(0.0, sigma, (96, 96))
    assert estimate_noise(noisy.clip(0, 255), method) == pytest.approx(sigma, rel=0.2)  # type: ignore[arg-type]
    assert estimate_noise(scene(), method) < 2.0  # type: ignore[arg-type]


def test_blur_takes_sharpness_edges_and_variation_away() -> None:
    sharp = scene()
    soft = blurred(sharp)
    assert detect_sharpness(soft) < 0.5 * detect_sharpness(sharp)
    assert get_mean_abs_log_metadata(soft) < get_mean_abs_log_metadata(sharp)
    assert total_variation(soft) <= total_variation(sharp)
    assert contrast(soft) < contrast(sharp)


def test_an_edge_is_measured_as_worked_out_by_hand() -> None:
    image = np.zeros((5, 6), np.uint8)
    image[:, 3:] = 60
    assert total_variation(image) == 5 * 60 / 30
    # The Laplacian is 60 left of the edge and -60 right of it, in 3 rows of 4.
    assert detect_sharpness(image) == pytest.approx(60**2 * 6 / 12)
    assert get_mean_abs_log_metadata(image) == pytest.approx(_log_by_scipy(image), rel=1e-6)


def _log_by_scipy(image: Array) -> float:
    ndimage = pytest.importorskip("scipy.ndimage")
    smooth = ndimage.gaussian_filter(image.astype(float), 1.0, mode="nearest", truncate=3.0)
    return float(np.abs(ndimage.laplace(smooth)[1:-1, 1:-1]).mean())


def test_nan_in_the_image_is_nan_in_its_measures() -> None:
    image = (scene() / 255).astype(np.float32)
    image[4, 4] = np.nan
    assert all(math.isnan(value) for value in image_metadata(image).values())


def test_an_image_without_neighbours_has_no_measure_of_them() -> None:
    values = image_metadata(np.full((1, 9), 3, np.uint8))
    assert math.isnan(values["sharpness"])
    assert math.isnan(values["noise_sigma"])
    assert values["brightness"] == 3.0


@pytest.mark.parametrize("shape", [(3, 8, 8), (8,), (8, 8, 4), (0, 8, 3)])
def test_what_is_no_image_is_refused_with_its_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ConfigurationError, match=str(shape).replace("(", r"\(").replace(")", r"\)")):
        image_metadata(np.zeros(shape, np.uint8))


def test_other_dtypes_and_methods_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="int64"):
        brightness(np.zeros((4, 4), np.int64))
    with pytest.raises(ConfigurationError, match="Did you mean 'sigma'"):
        estimate_noise(scene(), "sigmaa")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="sigma > 0"):
        get_mean_abs_log_metadata(scene(), 0.0)
