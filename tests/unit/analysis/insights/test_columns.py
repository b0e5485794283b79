"""Columns become regions whose conditions pick out exactly their rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.insights.columns import described, describing, regions_of, short
from cutaway.analysis.samples import Samples


def samples(**columns: object) -> Samples:
    count = len(next(iter(columns.values())))  # type: ignore[arg-type]
    table = pa.table({"sample": [str(one) for one in range(count)], "subset": ["test"] * count, **columns})
    return Samples(table, np.zeros((count, 2), np.float32))


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=300),
        np.random.default_rng(0).normal(size=300).astype(np.float32),
        np.random.default_rng(0).integers(0, 1000, 300),
        np.random.default_rng(0).integers(0, 4, 300),
        np.round(np.random.default_rng(0).lognormal(0, 3, 300), 1),
        np.random.default_rng(0).choice(["a", "b c", "d"], 300),
        np.random.default_rng(0).random(300) < 0.5,
    ],
)
def test_the_conditions_of_a_region_pick_out_its_rows(values: np.ndarray) -> None:
    made = samples(**{"metadata.x": values})
    column = described(made, "metadata.x")
    assert column is not None
    regions = list(regions_of(column))
    assert np.array_equal(np.sum([one.rows for one in regions], axis=0), np.ones(300))
    for region in regions:
        conditions = [parse_filter(text, made.table) for text in region.where]
        assert np.array_equal(rows_where(made.table, conditions), region.rows)


def test_missing_numbers_are_in_no_region() -> None:
    values = np.random.default_rng(0).normal(size=300)
    values[:30] = np.nan
    column = described(samples(x=values), "x")
    assert column is not None
    assert not any(one.rows[:30].any() for one in regions_of(column))


def test_outcomes_names_and_metrics_describe_nothing() -> None:
    made = samples(
        label=["a", "b"], loss=[1.0, 2.0], correct=[True, False], error=["x", None], own=[1, 2], nothing=[None, None],
        **{"metric.x": [1.0, 2.0], "metadata.y": ["a", "b"], "metadata.list": [[1], [2]]},
    )  # fmt: skip
    assert describing(made) == ["own", "metadata.y"]


def test_a_constant_and_a_name_for_each_sample_are_no_description() -> None:
    made = samples(one=["a"] * 500, each=[f"id {row}" for row in range(500)])
    assert described(made, "one") is None
    assert described(made, "each") is None


def test_the_shortest_number_between_two_lies_between_them() -> None:
    assert short(1.0, 2.0) == "1.5"
    assert 0.1 < float(short(0.1, 0.1000001)) < 0.1000001
