"""Which rows fulfil conditions, for every kind of column."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.filters import OPERATORS, Filter, parse_filter, rows_where
from cutaway.errors import ConfigurationError

TABLE = pa.table(
    {
        "sample": ["a", "b", "c", "d"],
        "label": ["4", "9", None, "4"],
        "loss": pa.array([0.1, 2.0, None, float("nan")], pa.float32()),
        "metadata.age": pa.array([1, 2, 3, None]),
        "correct": [True, False, None, True],
        "cluster": [0, 1, -1, 1],
        "day": [dt.date(2026, 1, day) for day in (1, 2, 3, 4)],
        "kind": pa.array(["x", "y", "x", None]).dictionary_encode(),
        "list": [[1], [2], [], None],
        "empty": pa.nulls(4),
        "long id": pa.array([2**60, 2**60 + 1, 0, None]),
    }
)


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (Filter("label", "equal", 4), "ad"),
        (Filter("label", "equal", "4"), "ad"),
        (Filter("label", "not-equal", "4"), "bc"),
        (Filter("label", "in", ("4", "9")), "abd"),
        (Filter("label", "not-in", ["9"]), "acd"),
        (Filter("label", "between", ("1", "5")), "ad"),
        (Filter("loss", "equal", 0.1), "a"),
        (Filter("loss", "greater-than", "1.5"), "b"),
        (Filter("loss", "less-than", 5), "ab"),
        (Filter("loss", "not-between", (0, 1)), "bcd"),
        (Filter("metadata.age", "between", (1, 2)), "ab"),
        (Filter("metadata.age", "between", (2, 1)), "ab"),
        (Filter("metadata.age", "greater-than", 1.5), "bc"),
        (Filter("metadata.age", "equal", "2.0"), "b"),
        (Filter("metadata.age", "less-than", 1e30), "abc"),
        (Filter("correct", "equal", "no"), "b"),
        (Filter("correct", "not-equal", True), "bc"),
        (Filter("cluster", "cluster", 1), "bd"),
        (Filter("cluster", "not-cluster", (0, 1)), "c"),
        (Filter("day", "greater-than", "2026-01-02"), "cd"),
        (Filter("kind", "equal", "x"), "ac"),
        (Filter("empty", "equal", 1), ""),
        (Filter("empty", "not-equal", 1), "abcd"),
        (Filter("long id", "equal", 2**60 + 1), "b"),
    ],
)
def test_rows_that_fulfil_a_condition(condition: Filter, rows: str) -> None:
    assert "".join(TABLE.filter(pa.array(rows_where(TABLE, [condition])))["sample"].to_pylist()) == rows


def test_all_conditions_must_hold_and_none_hold_for_every_row() -> None:
    assert rows_where(TABLE, []).tolist() == [True] * 4
    both = [Filter("label", "equal", "4"), Filter("cluster", "cluster", 1)]
    assert rows_where(TABLE, both).tolist() == [False, False, False, True]
    assert rows_where(TABLE.slice(0, 0), both).tolist() == []


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("lable", 1, "no column 'lable'. Did you mean 'label'"),
        ("loss", "high", "holds float, but the condition compares it with 'high'"),
        ("loss", float("nan"), "compares it with nan"),
        ("correct", "maybe", "compares it with 'maybe'"),
        ("day", "soon", "compares it with 'soon'"),
        ("list", 1, "one number, one text, or yes or no"),
    ],
)
def test_conditions_that_do_not_fit_a_column_are_refused(column: str, value: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        rows_where(TABLE, [Filter(column, "equal", value)])


def test_a_cluster_without_clusters_says_that_they_come_first() -> None:
    with pytest.raises(ConfigurationError, match="Find clusters first"):
        rows_where(TABLE.drop_columns("cluster"), [Filter("cluster", "cluster", 1)])


@pytest.mark.parametrize(
    ("column", "operator", "value", "reason"),
    [
        ("a", "equals", 1, "no operator 'equals'. Did you mean 'equal'"),
        ("a", "~", 1, "between, not-between, equal"),
        ("a", "between", 1, "two values"),
        ("a", "equal", (1, 2), "one value"),
        ("a", "in", (), "at least one value"),
        ("a", "cluster", 1, "about column 'cluster'"),
    ],
)
def test_filters_that_say_nothing_are_refused(column: str, operator: str, value: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        Filter(column, operator, value)


NUMBER = st.one_of(st.none(), st.floats(width=32), st.sampled_from([0.0, 0.5, 1.0]))


@given(values=st.lists(NUMBER, max_size=20), ends=st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.5])] * 2))
def test_not_is_the_opposite_and_conditions_agree_with_python(
    values: list[float | None], ends: tuple[float, float]
) -> None:
    table = pa.table({"x": pa.array(values, pa.float64()), "cluster": pa.array(values, pa.float64())})
    low, high = sorted(ends)
    plain = {
        "equal": lambda one: one == low,
        "in": lambda one: one in ends,
        "between": lambda one: low <= one <= high,
        "cluster": lambda one: one in ends,
        "greater-than": lambda one: one > low,
        "less-than": lambda one: one < low,
    }
    for operator in OPERATORS:
        name = operator.removeprefix("not-")
        value = ends if name in ("in", "between", "cluster") else low
        found = rows_where(table, [Filter("cluster" if name == "cluster" else "x", operator, value)])
        expected = np.array([one is not None and plain[name](one) for one in values], bool)
        assert np.array_equal(found, ~expected if operator.startswith("not-") else expected), operator


def test_a_text_and_its_filter_choose_the_same_rows() -> None:
    for text in ("label = 4", "loss > 1.5", "label in 4,9", "metadata.age between 1 2", "cluster 1", "correct = yes"):
        assert rows_where(TABLE, [parse_filter(text)]).any()
