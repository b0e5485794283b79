"""Thinning never loses an extreme, the newest value, or what is not finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.studio.curves.tables import stretches, thin

numbers = st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), max_size=400)


@settings(deadline=None)
@given(values=numbers, points=st.integers(1, 50))
def test_extremes_the_newest_and_faults_are_kept(values: list[float], points: int) -> None:
    array = np.array(values, np.float64)
    short = thin(array, points)
    finite = array[np.isfinite(array)]
    assert len(short.places) == min(len(array), points)
    assert int(short.nonfinite.sum()) == len(array) - len(finite)
    if len(finite):
        assert np.nanmin(short.min) == finite.min()
        assert np.nanmax(short.max) == finite.max()
    if len(array):
        assert short.places[-1] == len(array) - 1
        np.testing.assert_equal(short.value[-1], array[-1] if np.isfinite(array[-1]) else np.nan)


@settings(deadline=None)
@given(values=numbers.filter(bool), points=st.integers(1, 50))
def test_each_stretch_is_what_its_points_are(values: list[float], points: int) -> None:
    array = np.array(values, np.float64)
    short = thin(array, points)
    ends = short.places + 1
    for place, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        own = array[start:end]
        good = own[np.isfinite(own)]
        assert short.nonfinite[place] == len(own) - len(good)
        np.testing.assert_equal(short.min[place], good.min() if len(good) else np.nan)
        np.testing.assert_equal(short.max[place], good.max() if len(good) else np.nan)


@settings(deadline=None)
@given(count=st.integers(0, 10_000), points=st.integers(1, 300))
def test_stretches_cover_everything_and_are_nearly_equal(count: int, points: int) -> None:
    starts = stretches(count, points)
    lengths = np.diff(np.append(starts, count))
    assert len(starts) == min(count, points)
    assert lengths.sum() == count
    if count:
        assert starts[0] == 0
        assert lengths.min() >= 1
        assert lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("points", [5, 6, 100])
def test_a_series_that_fits_is_exact(points: int) -> None:
    short = thin([3.0, np.nan, 1.0, np.inf, 2.0], points)
    assert short.places.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_equal(short.value, [3.0, np.nan, 1.0, np.nan, 2.0])
    np.testing.assert_equal(short.value, short.min)
    np.testing.assert_equal(short.value, short.max)
    assert short.nonfinite.tolist() == [0, 1, 0, 1, 0]
