"""Statistics of a few steps as one batch of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.capture.statistics_batch import Part, of_one_number, statistics_batch
from cutaway.run.schemas import SCHEMAS, STATISTICS
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.tensors.statistics import reference_statistics


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_the_statistics_of_one_number_are_the_references(value: float) -> None:
    exact = reference_statistics([value])
    for name, found in of_one_number(value).items():
        wanted = getattr(exact, name)
        assert found == pytest.approx(wanted, rel=1e-12, nan_ok=True), name


def part(step: int, *names: str, active: Any = None, change: float = math.nan) -> Part:
    columns = {name: np.arange(len(names)) + 10 * i for i, name in enumerate(STATISTIC_COLUMNS)}
    columns["change"] = np.full(len(names), change)
    return Part(step, pa.array(names, pa.string()), columns, active)


def test_rows_come_in_the_order_of_their_parts() -> None:
    rows = statistics_batch([part(3, "a", "b"), part(3, "c"), part(4, "a", "b")])
    assert rows.schema == SCHEMAS[STATISTICS]
    assert rows["step"].to_pylist() == [3, 3, 3, 4, 4]
    assert rows["tensor"].to_pylist() == ["a", "b", "c", "a", "b"]
    for i, name in enumerate(STATISTIC_COLUMNS[:-1]):
        assert rows[name].to_pylist() == [10 * i, 10 * i + 1, 10 * i, 10 * i, 10 * i + 1], name


def test_a_change_that_is_not_known_is_null_and_other_nans_are_values() -> None:
    unknown, known = part(0, "a"), part(1, "a", change=2.0)
    unknown.columns["mean"][:] = 0  # type: ignore[index]
    mean = {**known.columns, "mean": np.array([math.nan])}
    rows = statistics_batch([unknown, known._replace(columns=mean)])
    assert rows["change"].to_pylist() == [None, 2.0]
    assert rows["mean"].null_count == 0
    assert math.isnan(rows["mean"].to_pylist()[1])


def test_activity_stands_with_its_tensor_and_nowhere_else() -> None:
    rows = statistics_batch([part(0, "a", "b"), part(0, "c", "d", active=[None, [0.5, 1.0]])])
    assert rows["active"].to_pylist() == [None, None, None, [0.5, 1.0]]
    assert statistics_batch([part(0, "a")])["active"].to_pylist() == [None]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 65])
def test_any_number_of_rows_has_valid_buffers(count: int) -> None:
    changes = np.where(np.arange(count) % 3 == 0, np.nan, np.arange(count, dtype=float))
    one = part(0, *(f"t{i}" for i in range(count)))
    rows = statistics_batch([one._replace(columns={**one.columns, "change": changes})])
    rows.validate(full=True)
    assert rows["change"].to_pylist() == [None if i % 3 == 0 else float(i) for i in range(count)]
