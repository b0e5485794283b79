"""Random maps differ from the given one in where they point, and in nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cutaway.analysis.heat_maps.random_maps import random_maps
from cutaway.analysis.heat_maps.resizing import resize

SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=9)
MAPS = SHAPES.flatmap(lambda shape: arrays.arrays(np.float32, shape, elements=st.floats(-3, 3, width=32)))


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def likeness_of_neighbours(maps: np.ndarray) -> float:
    """How much a place is like the next one along the last axis, by ranks: 0 for noise, 1 for what changes nowhere."""
    ranks = maps.reshape(len(maps), -1).argsort(axis=1).argsort(axis=1).reshape(maps.shape).astype(np.float64)
    left, right = ranks[..., :-1].ravel(), ranks[..., 1:].ravel()
    return float(np.corrcoef(left, right)[0, 1])


@settings(max_examples=60)
@given(MAPS, st.booleans())
def test_they_have_the_very_values_of_the_map(values: np.ndarray, neighbours: bool) -> None:
    made = random_maps(values, 4, generator(), neighbours=neighbours)
    assert made.shape == (4, *values.shape)
    for one in made:
        assert np.array_equal(np.sort(one, axis=None), np.sort(values, axis=None))


@pytest.mark.parametrize("cells", [4, 7, 14, 28])
def test_they_are_as_smooth_as_the_map(cells: int) -> None:
    smooth = resize(generator(1).random((40, cells, cells), dtype=np.float32), (28, 28))
    made = np.concatenate([random_maps(one, 5, generator(i)) for i, one in enumerate(smooth)])
    assert likeness_of_neighbours(made) == pytest.approx(likeness_of_neighbours(smooth), abs=0.06)


def test_a_long_and_narrow_map_is_as_smooth_along_as_across() -> None:
    smooth = resize(generator(2).random((40, 3, 16), dtype=np.float32), (12, 64))
    made = np.concatenate([random_maps(one, 5, generator(i)) for i, one in enumerate(smooth)])
    across = likeness_of_neighbours(np.swapaxes(made, 1, 2))
    assert likeness_of_neighbours(made) == pytest.approx(likeness_of_neighbours(smooth), abs=0.06)
    assert across == pytest.approx(likeness_of_neighbours(np.swapaxes(smooth, 1, 2)), abs=0.06)


def test_one_huge_value_does_not_hide_how_smooth_the_others_are() -> None:
    smooth = resize(generator(3).random((1, 5, 5), dtype=np.float32), (30, 30))[0]
    spiked = smooth.copy()
    spiked[3, 4] = 1e6
    plain, with_spike = (likeness_of_neighbours(random_maps(one, 20, generator())) for one in (smooth, spiked))
    assert with_spike == pytest.approx(plain, abs=0.05)


def test_what_has_no_neighbours_is_shuffled() -> None:
    ramp = np.arange(400, dtype=np.float32)
    assert likeness_of_neighbours(random_maps(ramp, 20, generator())) > 0.9
    assert abs(likeness_of_neighbours(random_maps(ramp, 20, generator(), neighbours=False))) < 0.1


def test_the_seed_repeats_them_and_they_point_elsewhere_than_the_map() -> None:
    blob = np.exp(-((np.indices((20, 20)) - 5) ** 2).sum(axis=0) / 20).astype(np.float32)
    first, again, other = (random_maps(blob, 3, generator(seed)) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len({tuple(np.unravel_index(one.argmax(), one.shape)) for one in random_maps(blob, 20, generator())}) > 10
