from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.batches.smoothing import smoothed

numbers = st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 64)), min_size=1, max_size=40)


@given(numbers, st.integers(1, 50))
def test_each_place_has_the_weighted_mean_around_it(rows: list[tuple[float, int]], window: int) -> None:
    values, counts = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    found = smoothed(values, counts, window)
    for place in range(len(rows)):
        near = slice(max(place - window // 2, 0), place + window // 2 + 1)
        assert found[place] == pytest.approx(np.average(values[near], weights=counts[near]), abs=1e-9)


def test_a_spike_stays_among_its_neighbours() -> None:
    values = np.full(50, 0.1)
    values[10] = 1e20
    found = smoothed(values, np.ones(50), 3)
    assert found[20:].tolist() == pytest.approx([0.1] * 30)


def test_what_is_not_finite_is_passed_over() -> None:
    values = np.array([1.0, np.nan, 3.0, np.inf, np.nan, np.nan])
    assert smoothed(values, np.ones(6), 3).tolist() == pytest.approx([1, 2, 3, 3, np.nan, np.nan], nan_ok=True)


def test_an_unknown_count_weighs_as_much_as_the_others() -> None:
    assert smoothed(np.array([0.0, 3.0]), np.array([2.0, np.nan]), 3).tolist() == [1.5, 1.5]
    assert smoothed(np.array([0.0, 3.0]), np.full(2, np.nan), 3).tolist() == [1.5, 1.5]


def test_a_few_batches_are_left_as_they_are_and_none_is_none() -> None:
    assert smoothed(np.array([1.0, 5.0]), np.ones(2)).tolist() == [1, 5]
    assert smoothed(np.array([]), np.array([])).tolist() == []
