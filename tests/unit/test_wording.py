"""Counts and lists are said the same way everywhere."""

import math

import pytest

from cutaway.wording import chance_words, counted, listed, number_between, percent


def test_one_thing_is_singular_and_all_other_numbers_are_plural() -> None:
    said = [counted(1, "step"), counted(2_000, "step"), counted(0, "loss"), counted(2, "entry", "entries")]
    assert said == ["1 step", "2,000 steps", "0 losses", "2 entries"]
    assert [counted(3, "epoch"), counted(3, "batch")] == ["3 epochs", "3 batches"]


def test_a_list_that_is_too_long_says_how_many_it_leaves_out() -> None:
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed([1, 2, 3], 1, "others") == "1 and 2 others"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.0812, "8.1 %"), (0.123, "12 %"), (0.00001, "under 0.1 %"), (0.999, "over 99 %")],
)
def test_a_share_reads_as_percent_and_never_as_quite_none_or_all(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "p < 0.001"), (1e-300, "p < 0.001"), (0.0009, "p < 0.001"), (0.001, "p = 0.001"), (0.0312, "p = 0.031")],
)
def test_no_p_value_reads_as_none_at_all(p: float, text: str) -> None:
    assert chance_words(p) == text


@pytest.mark.parametrize(
    ("low", "high", "told"), [(1.96, 2.03, "2"), (0.0, 1e-9, "5e-10"), (123456.7, 123999.0, "123700"), (-1.0, 1.0, "0")]
)
def test_a_number_between_two_has_few_digits(low: float, high: float, told: str) -> None:
    assert number_between(low, high, lambda number: low < number < high, high) == told


def test_neighbours_with_nothing_between_are_told_exactly() -> None:
    low, high = 1.0, math.nextafter(1.0, 2.0)
    assert float(number_between(low, high, lambda number: low < number <= high, high)) == high
