from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.slices import explain_outcome
from cutaway.errors import AnalysisUnavailable


def _explained(seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    rows = 2000
    size, other = random.uniform(size=rows), random.normal(size=rows)
    camera = random.choice(["a", "b", "c"], rows)
    outcome = 2 * size + (camera == "c") + random.lognormal(size=rows) * 0.2
    return explain_outcome({"other": other, "camera": camera, "size": size, "same": np.ones(rows)}, outcome)


def test_columns_come_by_how_much_they_explain() -> None:
    table = _explained()
    assert table["column"].to_pylist() == ["size", "camera", "other"]
    assert table["direction"].to_pylist()[:2] == ["higher", "c"]
    assert 0.3 < table["strength"][0].as_py() < 1
    assert table["p"].to_pylist()[0] < 1e-10
    assert table["words"][0].as_py().startswith("size explains ")
    assert table["words"][0].as_py().endswith("worse at higher values")


def test_a_column_that_explains_nothing_is_said_to() -> None:
    table = _explained()
    assert table["p"][2].as_py() > 0.05
    assert table["strength"][2].as_py() < 0.01
    assert table["words"][2].as_py() == "other explains no more than chance would"


def test_a_bend_is_neither_higher_nor_lower() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, 2000)
    assert explain_outcome({"x": x}, x**2)["direction"].to_pylist() == ["mixed"]


def test_lower_values_that_are_worse_are_said() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, 2000)
    assert explain_outcome({"x": x}, -x)["direction"].to_pylist() == ["lower"]
    assert explain_outcome({"x": x}, -x)["strength"][0].as_py() > 0.95


def test_chance_alone_is_rarely_more() -> None:
    random = np.random.default_rng(2)
    alarms = 0
    for _ in range(60):
        columns = {f"c{place}": random.normal(size=300) for place in range(5)}
        alarms += min(explain_outcome(columns, random.pareto(1, 300))["p"].to_pylist()) <= 0.05
    assert alarms <= 9


def test_samples_without_an_outcome_are_not_counted() -> None:
    x = np.arange(100.0) % 7
    outcome = np.where(np.arange(100) < 20, np.nan, x)
    assert explain_outcome({"x": x}, outcome)["samples"].to_pylist() == [80]


def test_missing_values_that_are_worst_are_told() -> None:
    values = [None if place % 4 == 0 else "a" for place in range(200)]
    assert explain_outcome({"x": values}, np.arange(200) % 4 == 0)["direction"].to_pylist() == ["missing"]


def test_an_outcome_that_is_the_same_for_all_is_not_explained() -> None:
    with pytest.raises(AnalysisUnavailable, match="the outcome is 1 for all"):
        explain_outcome({"x": np.arange(100) % 3}, np.ones(100))
