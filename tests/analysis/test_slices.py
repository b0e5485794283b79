"""Slices that were planted are found, and none where there are none."""

from __future__ import annotations

import pytest

from benchmarks.labels.slices import run_clean, run_planted
from benchmarks.labels.tables import clean_table, found_planted, planted_table
from cutaway.analysis.slices import find_slices


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [0, 1])
def test_weak_slices_that_were_planted_are_found(seed: int) -> None:
    row = run_planted(seed, slices=8)
    assert row["found"] >= 7
    assert row["off_target"] <= 1


@pytest.mark.parametrize("heavy", [False, True])
def test_a_clean_table_has_no_slices(heavy: bool) -> None:  # a table of cases
    table, outcome = clean_table(7, heavy=heavy, rows=5000)
    assert len(find_slices(table, outcome)) == 0


def test_what_was_planted_is_known_exactly() -> None:
    planted = planted_table(3, rows=5000)
    assert len(planted.slices) == 20
    assert all(0.01 <= mask.mean() <= 0.10 for mask in planted.slices)
    assert found_planted(planted.slices, list(planted.slices)) == (20, 0)
    assert found_planted(planted.slices, [~planted.slices[0]]) == (0, 1)


@pytest.mark.slow
def test_at_least_eighteen_of_twenty_weak_slices_are_found_on_average_and_never_under_fifteen() -> None:
    found = [run_planted(seed)["found"] for seed in range(20)]
    assert sum(found) / len(found) >= 18
    assert min(found) >= 15


@pytest.mark.slow
def test_a_hundred_clean_tables_have_five_false_slices_at_most() -> None:
    assert sum(run_clean(seed)["false"] for seed in range(100)) <= 5
