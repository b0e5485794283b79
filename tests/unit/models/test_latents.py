"""One vector a sample, whatever the shape of its layer."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.errors import LayerUnavailable
from cutaway.models import Layer, ModelDescription
from cutaway.models.latents import choose_layer, pooled


def described(*names: str, latent: str | None = None) -> ModelDescription:
    return ModelDescription("toy", (), (), tuple(Layer(name, "Dense") for name in names), latent_layer=latent)


def test_the_layer_is_what_the_format_says_or_the_last_but_one() -> None:
    assert choose_layer(described("a", "b", "c", latent="a")) == "a"
    assert choose_layer(described("a", "b", "c")) == "b"
    assert choose_layer(described("a")) == "a"
    with pytest.raises(LayerUnavailable, match="shows no layers"):
        choose_layer(described())


@pytest.mark.parametrize(
    ("shape", "axis", "wanted"),
    [
        ((5,), -1, (5, 1)),
        ((5, 3), -1, (5, 3)),
        ((5, 3), 1, (5, 3)),
        ((5, 3, 4, 2), 1, (5, 3)),
        ((5, 4, 2, 3), -1, (5, 3)),
        ((5, 7, 3), -1, (5, 3)),
        ((0, 3, 4, 2), 1, (0, 3)),
        ((0, 3), -1, (0, 3)),
    ],
)
def test_a_vector_is_the_mean_over_everything_but_samples_and_channels(
    shape: tuple[int, ...], axis: int, wanted: tuple[int, ...]
) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    vectors = pooled(values, axis)
    assert vectors.shape == wanted
    assert vectors.dtype == np.float32
    if values.ndim > 2:
        turned = np.moveaxis(values, axis, 1).reshape(*wanted, int(np.prod(shape)) // max(1, int(np.prod(wanted))))
        assert np.allclose(vectors, turned.sum(axis=2) / max(1, turned.shape[2]))


def test_half_precision_is_summed_in_double() -> None:
    assert pooled(np.full((1, 1, 300, 300), 60_000, np.float16), 1)[0, 0] == 60_000
