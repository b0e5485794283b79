from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import stats

from cutaway.analysis.statistics.intervals import (
    mean_difference,
    mean_interval,
    normal_tail,
    share_difference,
    share_interval,
)
from cutaway.errors import MissingExtraError


def test_shares_have_wilsons_interval() -> None:
    yes, counts = np.array([0, 1, 3, 50, 7]), np.array([5, 1, 10, 100, 7])
    low, high = share_interval(yes, counts)
    for place in range(len(yes)):
        expected = stats.binomtest(int(yes[place]), int(counts[place])).proportion_ci(method="wilson")
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high))


def test_a_share_of_nothing_has_no_interval() -> None:
    low, high = share_interval([0], [0])
    assert np.isnan(low[0])
    assert np.isnan(high[0])


def test_means_have_students_interval_and_one_sample_has_none() -> None:
    values = np.array([1.0, 2.0, 4.0])
    spread = np.array([values.std(ddof=1), 0.0])
    low, high = mean_interval(np.array([values.mean(), 1.0]), spread, np.array([3, 1]))
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))
    assert np.isnan(low[1])
    assert np.isnan(high[1])


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'cutaway\[analysis\]'"):
        mean_interval(np.ones(1), np.ones(1), np.array([3]))


def test_the_interval_of_a_difference_of_shares_holds_it() -> None:
    low, high = share_difference((30, 20), (100, 400))
    assert low < 0.25 < high
    assert low > 0.15


def test_the_interval_of_a_difference_of_means_holds_it_and_of_one_value_there_is_none() -> None:
    rng = np.random.default_rng(0)
    low, high = mean_difference(rng.normal(1, 1, 400), rng.normal(0, 1, 400))
    assert 0.7 < low < 1 < high < 1.3
    assert np.isnan(mean_difference(np.ones(1), np.ones(5))).all()


def test_the_tail_of_the_normal_distribution() -> None:
    assert abs(float(normal_tail(1.959964)) - 0.025) < 1e-6
