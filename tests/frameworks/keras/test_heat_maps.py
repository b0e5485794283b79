"""Heat maps of Keras models against captum's of a torch module with the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("captum")

import keras
from keras import layers

from cutaway import models
from cutaway.analysis.heat_maps.making import heat_map
from tests.frameworks.keras.making import lstm, perturbed, unet
from tests.frameworks.torch.twins import IMAGES, METHODS, STRIDE, TARGETS, WINDOW, by_captum, twin

LAST = np.ascontiguousarray(np.moveaxis(IMAGES, 1, -1))


def keras_twin() -> Any:
    """The network of torch with channels last: kernels and what comes from flattening lie in another order."""
    model = keras.Sequential(
        [
            keras.Input((12, 10, 2), name="image"),
            layers.Conv2D(6, 3, padding="same", activation="relu", name="conv1"),
            layers.MaxPooling2D(name="pool"),
            layers.Conv2D(5, 3, activation="relu", name="conv2"),
            layers.Flatten(name="flat"),
            layers.Dense(7, activation="tanh", name="dense"),
            layers.Dense(4, name="head"),
        ]
    )
    weights = {name: values.detach().numpy() for name, values in twin().named_parameters()}
    for name in ("conv1", "conv2"):
        kernel = weights[f"{name}.weight"].transpose(2, 3, 1, 0)
        model.get_layer(name).set_weights([kernel, weights[f"{name}.bias"]])
    flat = weights["dense.weight"].reshape(7, 5, 4, 3).transpose(2, 3, 1, 0).reshape(60, 7)
    model.get_layer("dense").set_weights([flat, weights["dense.bias"]])
    model.get_layer("head").set_weights([weights["head.weight"].T, weights["head.bias"]])
    return model


def values_of(maps: Any) -> Any:
    return np.stack([one.values if one.attribution is None else one.attribution for one in maps])


@pytest.mark.parametrize("method", METHODS)
def test_a_twin_has_captums_map_of_the_module(method: str) -> None:
    windows = {"window": WINDOW, "stride": STRIDE} if method == "occlusion" else {}
    model = models.load(keras_twin())
    maps = heat_map(model, LAST, method=method, target=TARGETS, **windows)
    wanted = by_captum(twin(), method)
    got = values_of(maps)
    assert np.abs((np.moveaxis(got, -1, 1) if got.ndim == 4 else got) - wanted).max() < 1e-3
    first = models.load(keras_twin(), channels_last=False)
    assert np.abs(values_of(heat_map(first, IMAGES, method=method, target=TARGETS, **windows)) - wanted).max() < 1e-3


def test_a_file_in_a_process_of_its_own_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "twin.keras"
    keras_twin().save(path)
    with models.load(path) as model:
        maps = heat_map(model, LAST, target=TARGETS)
        assert maps[0].layer == "conv2"
        assert np.abs(values_of(maps) - by_captum(twin(), "grad_cam")).max() < 1e-3


def test_tokens_go_through_the_embedding() -> None:
    batch = np.random.default_rng(2).integers(1, 20, (3, 7))
    model = models.load(perturbed(lstm()))
    maps = heat_map(model, batch, method="input_gradient")
    assert maps[0].layer == "embedded"
    assert maps[0].target is None
    assert heat_map(model, batch)[0].layer == "both_ways"
    for method in ("occlusion", "rise"):
        assert values_of(heat_map(model, batch, method=method, masks=20)).shape == batch.shape


def test_an_output_for_each_pixel_is_not_explained_by_itself() -> None:
    batch = np.random.default_rng(2).random((2, 8, 8, 1)).astype(np.float32)
    model = models.load(perturbed(unet()))
    maps = heat_map(model, batch)
    assert maps[0].layer != "mask"
    assert maps[0].values.shape == (8, 8)


def test_images_without_channels_that_are_flattened_have_a_value_for_each_pixel() -> None:
    model = keras.Sequential([keras.Input((6, 5)), layers.Flatten(), layers.Dense(3)])
    batch = np.random.default_rng(2).random((2, 6, 5)).astype(np.float32)
    assert heat_map(models.load(model), batch, method="integrated_gradients")[0].values.shape == (6, 5)
