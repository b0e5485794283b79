from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.curves.binning import bin_numbers, summed_up

numbers = st.lists(st.integers(-5, 5) | st.floats(-1e6, 1e6), min_size=1, max_size=60)


@given(numbers, st.integers(1, 12))
def test_bins_follow_the_order_of_the_numbers_and_none_is_empty(x: list[float], bins: int) -> None:
    values = np.array(x, np.float64)
    places = bin_numbers(values, bins)
    assert sorted(set(places.tolist())) == list(range(places.max() + 1))
    assert places.max() + 1 <= bins or len(set(x)) <= bins
    order = np.argsort(values, kind="stable")
    assert (np.diff(places[order]) >= 0).all()
    for value in set(values.tolist()):
        assert len(set(places[values == value].tolist())) == 1


@given(numbers, st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_no_bin(x: list[float], bins: int, random: object) -> None:
    values = np.array(x, np.float64)
    order = np.array(random.sample(range(len(x)), len(x)))  # type: ignore[attr-defined]
    assert bin_numbers(values[order], bins).tolist() == bin_numbers(values, bins)[order].tolist()


def test_bins_of_different_numbers_hold_as_many_each() -> None:
    x = np.random.default_rng(0).normal(size=1000)
    assert np.bincount(bin_numbers(x, 10)).tolist() == [100] * 10


def test_a_value_that_most_rows_have_leaves_the_other_bins_to_the_rest() -> None:
    x = np.concatenate([np.zeros(900), np.arange(1, 101)])
    assert np.bincount(bin_numbers(x, 5)).tolist() == [900, 25, 25, 25, 25]


def test_a_range_as_wide_as_all_numbers_has_bins() -> None:
    x = np.array([-1.7e308, -1e307, 0.0, 1e307, 1.7e308])
    assert bin_numbers(x, 2).tolist() in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e3, 1e3)), min_size=1, max_size=60))
def test_what_is_summed_up_is_what_numpy_says_of_each_part(rows: list[tuple[int, float]]) -> None:
    key, y = np.array([one for one, _ in rows]), np.array([one for _, one in rows])
    found = summed_up(key, y, yes_no=False)
    assert found["count"].sum() == len(rows)
    for place, one in enumerate(found["key"].tolist()):
        part = y[key == one]
        expected = (len(part), part.mean(), np.median(part), part.min(), part.max())
        got = [found[name][place] for name in ("count", "mean", "median", "min", "max")]
        np.testing.assert_allclose(np.array(got, float), expected, atol=1e-9)
        assert np.isnan(found["low"][place]) == (len(part) == 1)
        if len(part) > 1:
            assert found["low"][place] <= found["mean"][place] <= found["high"][place]
