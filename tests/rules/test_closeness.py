"""Whether two tensors can be close, from their statistics."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.rules.closeness import difference, may_be_close
from cutaway.tensors.statistics import reference_statistics

RTOL, ATOL = 1e-5, 1e-8
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


def statistics(values: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.array([value], np.float64) for name, value in asdict(reference_statistics(values)).items()}


@given(st.lists(st.tuples(numbers, st.floats(-1, 1)), min_size=1, max_size=20))
def test_tensors_that_are_close_are_never_told_apart(pairs: list[tuple[float, float]]) -> None:
    other = np.array([value for value, _ in pairs])
    share = np.array([share for _, share in pairs])
    # A little inside the tolerance, since sums round.
    one = other + 0.999 * share * (ATOL + RTOL * np.abs(other))
    assert np.allclose(one, other, RTOL, ATOL)
    assert may_be_close(statistics(one), statistics(other), RTOL, ATOL)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1.0, 2.0], [1.0, 2.001]),
        ([1.0, 2.0], [1.0, 2.0, 2.0]),
        ([1.0, np.nan], [1.0, 2.0]),
        ([1.0, np.nan], [1.0, np.nan]),
        ([1.0, 5.0, 9.0], [1.0, 6.0, 9.0]),
        ([-1.0, 1.0, 3.0], [-1.0, -1.0, 3.0]),
        ([np.nan], [1.0]),
    ],
)
def test_what_statistics_tell_apart_differs(one: list[float], other: list[float]) -> None:
    assert not may_be_close(statistics(np.array(one)), statistics(np.array(other)), RTOL, ATOL)


def test_as_many_nan_may_be_the_same_where_told_so() -> None:
    some, all_of_it = statistics(np.array([1.0, np.nan])), statistics(np.array([np.nan, np.nan]))
    assert may_be_close(some, some, RTOL, ATOL, equal_nan=True)
    assert may_be_close(all_of_it, all_of_it, RTOL, ATOL, equal_nan=True)
    assert not may_be_close(some, all_of_it, RTOL, ATOL, equal_nan=True)


def test_the_difference_is_that_of_the_statistic_that_differs_most() -> None:
    assert difference(statistics(np.array([0.0, 1.0])), statistics(np.array([0.0, 4.0]))) == pytest.approx(3)
