"""The disk budget: halved again and again, never exceeded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.capture.budget import RESERVE, DiskBudget
from cutaway.errors import ConfigurationError

LIMIT = 1_000_000
ROOM = LIMIT - RESERVE


def test_the_first_half_is_spent_at_the_full_rate_and_each_half_of_the_rest_at_half_the_rate() -> None:
    budget = DiskBudget(LIMIT)
    assert not budget.spend(ROOM // 2)
    assert budget.thinning == 1
    assert budget.spend(1)
    assert budget.thinning == 2
    assert not budget.spend(ROOM // 4 - 1)
    assert budget.spend(1)
    assert budget.thinning == 4


def test_a_large_piece_may_skip_several_rates() -> None:
    budget = DiskBudget(LIMIT)
    assert budget.spend(int(ROOM * 0.9))
    assert budget.thinning == 8


def test_what_does_not_fit_is_refused_and_a_reserve_is_left_for_the_end() -> None:
    budget = DiskBudget(LIMIT)
    assert budget.fits(ROOM)
    assert not budget.fits(ROOM + 1)
    assert not DiskBudget(RESERVE).fits(1)


@given(st.lists(st.integers(1, 300_000), max_size=60))
def test_whoever_asks_before_spending_never_exceeds_the_limit(pieces: list[int]) -> None:
    budget, last = DiskBudget(LIMIT), 1
    for piece in pieces:
        if budget.fits(piece):
            budget.spend(piece)
        assert budget.used <= LIMIT
        assert budget.thinning >= last
        last = budget.thinning


@pytest.mark.parametrize("limit", [0, -5])
def test_a_budget_must_be_positive(limit: int) -> None:
    with pytest.raises(ConfigurationError, match=r"disk_budget > 0"):
        DiskBudget(limit)
