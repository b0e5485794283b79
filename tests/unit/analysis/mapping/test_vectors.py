from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.mapping.vectors import FAR, checked_positions, prepare
from cutaway.errors import ConfigurationError


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.bool_])
def test_numbers_of_every_kind_become_float32(dtype: type) -> None:
    vectors = prepare(np.array([[0, 1], [1, 0], [1, 1]], dtype))
    assert vectors.values.dtype == np.float32
    assert np.isfinite(vectors.values).all()


def test_rows_that_are_not_finite_are_left_out_and_come_back_as_nan() -> None:
    vectors = prepare(np.array([[1.0, 2.0], [np.nan, 0.0], [3.0, np.inf], [4.0, 5.0]]))
    assert vectors.finite.tolist() == [True, False, False, True]
    assert len(vectors.values) == 2
    spread = vectors.spread(np.ones((2, 2), np.float32))
    assert np.isnan(spread[1:3]).all()
    assert (spread[[0, 3]] == 1).all()


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30, 3e38, 1e300])
def test_size_and_origin_do_not_matter(size: float) -> None:
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 5))
    dtype = np.float64 if size > 3e38 else np.float32
    values = prepare((rows * size).astype(dtype)).values
    assert np.allclose(values, prepare(rows).values, atol=1e-4)


def test_one_row_far_out_does_not_swallow_the_others() -> None:
    rows = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    rows[7] = 1e30
    vectors = prepare(rows)
    assert vectors.clipped == 1
    assert np.linalg.norm(vectors.values[7]) == pytest.approx(FAR, rel=1e-3)
    others = np.delete(vectors.values, 7, axis=0)
    assert len(np.unique(others, axis=0)) == 99


def test_rows_that_are_all_alike_have_a_unit_too() -> None:
    vectors = prepare(np.full((5, 3), 7.0))
    assert (vectors.values == 0).all()


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a"]]), np.zeros((2, 2), complex)])
def test_what_is_no_table_of_numbers_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match="`latents` must be numbers with a row for each sample"):
        prepare(wrong)


def test_positions_are_two_numbers_a_sample() -> None:
    assert checked_positions(np.zeros((3, 2)), 3).dtype == np.float32
    with pytest.raises(ConfigurationError, match="two numbers for each of 3 samples"):
        checked_positions(np.zeros((3, 3)), 3)
