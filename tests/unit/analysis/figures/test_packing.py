"""Columns survive their way into a page."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.figures.packing import pack_column
from tests.unit.analysis.figures.reading_pages import decoded


def unpacked(packed: dict[str, Any]) -> list[Any]:
    values = decoded(packed["values"]).tolist()
    if "names" in packed:
        return [packed["names"][one - 1] if one else None for one in values]
    return [None if math.isnan(one) else one for one in values]


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))))
def test_texts_come_back(values: list[str | None]) -> None:
    assert unpacked(pack_column("a", pa.chunked_array([pa.array(values, pa.string())]))) == values


@given(st.lists(st.one_of(st.none(), st.integers(-(2**53), 2**53))))
def test_whole_numbers_come_back(values: list[int | None]) -> None:
    assert unpacked(pack_column("a", pa.chunked_array([pa.array(values, pa.int64())]))) == values


@given(st.lists(st.one_of(st.none(), st.floats(width=32, allow_nan=False))))
def test_numbers_come_back(values: list[float | None]) -> None:
    for kind in (pa.float32(), pa.float64()):
        assert unpacked(pack_column("a", pa.chunked_array([pa.array(values, kind)]))) == values


@pytest.mark.parametrize("count", [3, 300, 70_000])
def test_any_number_of_names_comes_back(count: int) -> None:
    values = [f"n{one}" for one in range(count)]
    packed = pack_column("a", pa.chunked_array([pa.array(values).dictionary_encode()]))
    assert unpacked(packed) == values
    assert packed["values"]["kind"] == {3: "u1", 300: "u2", 70_000: "u4"}[count]


def test_yes_and_no_come_back_as_words() -> None:
    assert unpacked(pack_column("a", pa.chunked_array([pa.array([True, None, False])]))) == ["yes", None, "no"]
    assert np.isnan(decoded(pack_column("a", pa.chunked_array([pa.array([None, 1])]))["values"])[0])
