"""The cases by which the page's own conditions are checked against ours: one file, read from both sides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.filters import parse_filter, refuse_unknown_values, rows_where
from cutaway.errors import ConfigurationError

FILE = Path(__file__).parents[3] / "ui" / "src" / "map" / "conditions.cases.json"
CASES: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
TYPES = {
    "float64": pa.float64(),
    "float32": pa.float32(),
    "int64": pa.int64(),
    "string": pa.string(),
    "bool": pa.bool_(),
}
NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def column(about: dict[str, Any]) -> pa.Array:
    kind = TYPES[about["type"]]
    if pa.types.is_floating(kind):
        values = [NUMBERS.get(one, one) if isinstance(one, str) else one for one in about["values"]]
        return pa.array(values, pa.float64()).cast(kind, safe=False)
    return pa.array(about["values"], kind)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table({name: column(about) for name, about in CASES["columns"].items()})


def rows(where: list[str], table: pa.Table) -> list[int]:
    filters = [parse_filter(one, table) for one in where]
    refuse_unknown_values(table, filters, {})
    return np.flatnonzero(rows_where(table, filters)).tolist()


@pytest.mark.parametrize("case", CASES["selects"], ids=lambda case: " & ".join(case["where"]))
def test_conditions_select_the_rows_that_the_file_says(case: dict[str, Any], table: pa.Table) -> None:
    assert rows(case["where"], table) == case["rows"]


@pytest.mark.parametrize("text", CASES["refuses"])
def test_what_is_no_condition_is_refused(text: str, table: pa.Table) -> None:
    with pytest.raises(ConfigurationError):
        rows([text], table)
