"""Weights drawn anew: what shuffling keeps, what is left alone, and what a model says that cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.models.description import ModelDescription, TensorSpec
from cutaway.models.model import Model
from cutaway.models.random_weights import shuffled, shuffled_all
from tests.toy_format import ToyBackend

SHAPES = arrays.array_shapes(max_dims=4, max_side=5)


@given(SHAPES.flatmap(lambda shape: arrays.arrays(np.float32, shape, elements=st.floats(-5, 5, width=32))))
def test_shuffling_keeps_the_values_and_the_shape(values: np.ndarray) -> None:
    found = shuffled(values, seed=3, number=1)
    if found is None:
        assert np.unique(values).size <= 1
        return
    assert found.shape == values.shape
    assert not np.array_equal(found, values)
    assert np.array_equal(np.sort(found, axis=None), np.sort(values, axis=None))


def test_each_tensor_has_an_order_of_its_own_and_the_seed_repeats_it() -> None:
    values = np.arange(50, dtype=np.float32)
    first, second, again = shuffled(values, 0, 0), shuffled(values, 0, 1), shuffled(values, 0, 0)
    assert np.array_equal(first, again)  # type: ignore[arg-type]  # None would not be equal to what follows either
    assert not np.array_equal(first, second)  # type: ignore[arg-type]
    assert not np.array_equal(first, values)  # type: ignore[arg-type]
    assert np.array_equal(np.sort(np.asarray(first)), values)
    assert np.array_equal(values, np.arange(50))


def test_masks_and_constants_are_left_alone_and_a_model_of_them_has_nothing_to_shuffle() -> None:
    mask = np.triu(np.full((3, 3), -np.inf, np.float32))
    ones = np.ones(7, np.float32)
    assert list(shuffled_all({"mask": mask, "ones": ones, "w": np.arange(4.0)}, 0)) == ["w"]
    with pytest.raises(AnalysisUnavailable, match="no tensor of weights whose values differ"):
        shuffled_all({"mask": mask, "ones": ones}, 0)


def test_a_model_keeps_how_its_batches_lie_and_its_limits() -> None:
    model = Model(ToyBackend({}), channels_last=True, limits=("memory",))
    other = model.with_random_weights(2)
    assert (other.channels_last, other.limits) == (True, ("memory",))
    rows = np.ones((2, 4), np.float32)
    assert not np.array_equal(other.predict(rows)["scores"], model.predict(rows)["scores"])


def test_a_format_that_cannot_says_so_and_seeds_count_from_zero() -> None:
    class Fixed:
        description = ModelDescription("stone", (TensorSpec("x", (None, 4)),), (TensorSpec("y", (None, 2)),))

    with pytest.raises(AnalysisUnavailable, match="No randomised weights: models of format 'stone'"):
        Model(Fixed()).with_random_weights()  # type: ignore[arg-type]  # only what is asked for here
    with pytest.raises(ConfigurationError, match="`seed >= 0` must hold, but got seed=-1"):
        Model(ToyBackend({})).with_random_weights(-1)
