"""Corrections and intervals behave as their definitions say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.insights.chances import mean_difference, normal_tail, share_difference
from cutaway.analysis.statistics.false_shares import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrected_chances_are_never_smaller_and_keep_their_order(chances: list[float]) -> None:
    found = holm(chances)
    assert (found >= np.array(chances) - 1e-12).all()
    assert (found <= 1).all()
    order = np.argsort(chances, kind="stable")
    assert (np.diff(found[order]) >= -1e-12).all()


def test_nothing_corrected_is_nothing() -> None:
    assert holm([]).shape == (0,)


def test_one_chance_alone_stays_as_it_is() -> None:
    assert holm([0.03]).tolist() == [0.03]


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
