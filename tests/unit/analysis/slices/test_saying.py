from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.slices.features import Feature, box_rows, featured
from cutaway.analysis.slices.saying import conditions_of

_TEXTS = st.text(max_size=6) | st.sampled_from(["", " a ", '"q"', "'q'", "a,b", "= 3", "not in", "1", "é", '"'])
_NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-3, 3).map(float) | st.none()


def _all_said(column: pa.Array, name: str = "x", *, other: str = "y") -> None:
    table = pa.table({name: column, other: pa.array(np.arange(len(column)))})
    feature = featured(name, table[name], 1)
    if not isinstance(feature, Feature):
        return
    for low, high in feature.fine_parts[:200]:
        box = ((0, int(low), int(high)),)
        said = conditions_of([feature], box, table)
        assert said is not None, (low, high, feature)
        rows = rows_where(table, [parse_filter(text, table) for text, _ in said])
        assert (rows == box_rows([feature], box)).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(_NUMBERS, min_size=2, max_size=20))
def test_numbers_are_read_back_to_the_same_rows(values: list[float | None]) -> None:
    _all_said(pa.array(values, pa.float64()))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=20))
def test_numbers_of_half_the_precision_are_read_back_to_the_same_rows(values: list[float]) -> None:
    _all_said(pa.array(values, pa.float32()))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.none(), min_size=2, max_size=20))
def test_whole_numbers_are_read_back_however_long(values: list[int | None]) -> None:
    _all_said(pa.array(values, pa.int64()))


@settings(max_examples=80, deadline=None)
@given(st.lists(_TEXTS | st.none(), min_size=2, max_size=20))
def test_texts_are_read_back_whatever_they_hold(values: list[str | None]) -> None:
    _all_said(pa.array(values, pa.string()))


@pytest.mark.parametrize("name", ["a b", " a", "a = b", "between", "metadata.x in y", "a.b", "é"])
@pytest.mark.parametrize("values", [[1.5, 2.5, 3.5, None], ["p", "q", "r", None], [True, False, None, True]])
def test_names_of_columns_are_read_back(name: str, values: list[Any]) -> None:
    _all_said(pa.array(values), name, other="a")


def test_a_dictionary_is_said_as_its_texts() -> None:
    _all_said(pa.array(["p", "q", "p", None]).dictionary_encode())
