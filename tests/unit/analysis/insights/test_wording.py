"""Figures as people read them."""

from __future__ import annotations

from cutaway.analysis.insights.wording import change, figures, listed, times, told


def test_numbers_that_differ_read_differently() -> None:
    assert figures(1.00001, 1.00002) == ["1.00001", "1.00002"]
    assert figures(0.5, 0.5) == ["0.5", "0.5"]
    assert figures(12345.0, 1.5) == ["12,345", "1.5"]


def test_errors_are_percent_and_losses_are_numbers() -> None:
    assert told("error", 0.25) == ["25 %"]
    assert told("loss", 0.25) == ["0.25"]


def test_a_change_has_its_range_in_ascending_order_and_never_goes_below_nothing() -> None:
    text = change("error", 0.10, [0.03, 0.02, 0.12])
    assert text == "overall error falls from 10 % to 7.0 % (0 % to 8.0 %)"


def test_how_many_times_is_said_where_it_is_worth_it() -> None:
    assert times(0.3, 0.1) == " (3.0 times as high)"
    assert times(0.11, 0.1) == ""
    assert times(0.3, 0.0) == ""


def test_lists_read_as_lists() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
