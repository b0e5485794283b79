"""Conditions as people type them."""

from __future__ import annotations

import contextlib
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.filters import Filter, parse_filter
from cutaway.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "column", "operator", "value"),
    [
        ("label = 4", "label", "equal", "4"),
        ("label=4", "label", "equal", "4"),
        ("label == 4", "label", "equal", "4"),
        ("label equal 4", "label", "equal", "4"),
        ("label != 9", "label", "not-equal", "9"),
        ("loss > 1.5", "loss", "greater-than", "1.5"),
        ("loss<-1.5", "loss", "less-than", "-1.5"),
        ("loss greater-than 1", "loss", "greater-than", "1"),
        ("label in 4,9", "label", "in", ("4", "9")),
        ("label IN 4, 9", "label", "in", ("4", "9")),
        ('city in "New York, NY",Bern', "city", "in", ("New York, NY", "Bern")),
        ("city = New York, NY", "city", "equal", "New York, NY"),
        ('city = "a = b"', "city", "equal", "a = b"),
        ("subset not in training", "subset", "not-in", ("training",)),
        ("subset not-in training", "subset", "not-in", ("training",)),
        ("metadata.x between 1 2", "metadata.x", "between", ("1", "2")),
        ("metadata.x between 1,2", "metadata.x", "between", ("1", "2")),
        ("metadata.x between -1 and 2", "metadata.x", "between", ("-1", "2")),
        ("my own column not between 1 2", "my own column", "not-between", ("1", "2")),
        ('"my own column" = 3', "my own column", "equal", "3"),
        ("inside = 3", "inside", "equal", "3"),
        ("cluster 3", "cluster", "cluster", ("3",)),
        ("not cluster 3,-1", "cluster", "not-cluster", ("3", "-1")),
        ("cluster = 3", "cluster", "equal", "3"),
    ],
)
def test_a_text_is_a_column_an_operator_and_a_value(text: str, column: str, operator: str, value: Any) -> None:
    assert parse_filter(text) == Filter(column, operator, value)


def test_a_known_column_may_have_an_operator_in_its_name() -> None:
    table = pa.table({"time in bed": [1], "time": [2], "a=b": [3]})
    assert parse_filter("time in bed > 3", table) == Filter("time in bed", "greater-than", "3")
    assert parse_filter("time in 3,4", table) == Filter("time", "in", ("3", "4"))
    assert parse_filter("a=b = 4", table) == Filter("a=b", "equal", "4")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("label", "is not a condition"),
        ("", "is not a condition"),
        ("= 4", "is not a condition"),
        ("label ~ 4", "not-between"),
        ("loss >= 4", "no operator '>='"),
        ("loss <= 4", "between .both ends included."),
        ("label =", "lacks a value"),
        ("label in", "lacks a value"),
        ("label in 4,,9", "empty"),
        ("x between 1", "needs two values"),
        ("x between 1 2 3", "needs two values"),
    ],
)
def test_a_text_that_is_no_condition_says_what_one_is(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        parse_filter(text)


def test_a_column_that_there_is_not_offers_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'label'"):
        parse_filter("lable = 4", pa.table({"label": ["4"]}))


@given(st.text(max_size=40))
def test_any_text_is_a_filter_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(ConfigurationError):
        assert isinstance(parse_filter(text), Filter)
