from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import stats

from cutaway.analysis.curves.strength import rank_correlation, rank_share
from cutaway.errors import MissingExtraError


@pytest.mark.parametrize("count", [10, 57, 1000])
@pytest.mark.parametrize("levels", [2, 5, 10_000])
def test_rank_correlation_is_scipys_with_and_without_ties(count: int, levels: int) -> None:
    rng = np.random.default_rng(count + levels)
    x = rng.integers(0, levels, count).astype(float)
    y = x + rng.integers(0, 2 * levels, count)
    found, expected = rank_correlation(x, y), stats.spearmanr(x, y)
    assert found is not None
    assert found.value == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low < found.value < found.high <= 1


def test_the_interval_holds_the_truth_about_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(1)
    truth = 6 / np.pi * np.arcsin(0.6 / 2)
    held = 0
    for _ in range(400):
        x = rng.normal(size=60)
        found = rank_correlation(x, 0.6 * x + 0.8 * rng.normal(size=60))
        assert found is not None
        held += found.low <= truth <= found.high  # type: ignore[operator]
    assert 0.91 <= held / 400 <= 0.98


def test_a_perfect_order_of_few_samples_is_no_certainty() -> None:
    found = rank_correlation(np.arange(10.0), np.arange(10.0))
    assert found is not None
    assert found.value == 1
    assert found.low is not None
    assert found.low < 0.99
    assert found.high == 1


def test_too_few_or_constant_numbers_have_no_rank_correlation() -> None:
    assert rank_correlation(np.arange(9.0), np.arange(9.0)) is None
    assert rank_correlation(np.arange(20.0), np.ones(20)) is None
    assert rank_correlation(np.ones(20), np.arange(20.0)) is None


@pytest.mark.parametrize("levels", [3, 1000])
def test_rank_share_follows_scipys_kruskal(levels: int) -> None:
    rng = np.random.default_rng(levels)
    codes = rng.integers(0, 4, 300)
    y = np.round(rng.normal(size=300) + 0.3 * codes, 3 if levels > 3 else 0)
    found, expected = rank_share(codes, y), stats.kruskal(*[y[codes == one] for one in range(4)])
    assert found is not None
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert found.value == pytest.approx((expected.statistic - 3) / 296)


def test_one_value_or_as_many_as_samples_have_no_rank_share() -> None:
    assert rank_share(np.zeros(20, np.int64), np.arange(20.0)) is None
    assert rank_share(np.arange(20), np.arange(20.0)) is None
    assert rank_share(np.arange(20) % 2, np.ones(20)) is None


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    x = np.random.default_rng(0).normal(size=20)
    for measure in (lambda: rank_correlation(x, x**2), lambda: rank_share(np.arange(20) % 2, x)):
        with pytest.raises(MissingExtraError, match=r"pip install 'cutaway\[analysis\]'"):
            measure()
