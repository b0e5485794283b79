"""Tables of subsets: joined where they did not come out alike, refused where Cutaway did not write them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from cutaway.errors import EvaluationError
from cutaway.run.evaluated.tables import as_written, joined_tables

LABEL = "ground_truth.y.label"


def table(**other: Any) -> pa.Table:
    columns = {
        "id": ["training/0", "training/1"],
        "error": pa.nulls(2, pa.string()),
        "hash": ["a", "b"],
        "loss": pa.array([0.1, None], pa.float32()),
        LABEL: [1, 2],
        "metadata.size": [0.5, None],
    }
    return pa.table(columns | other)


@pytest.mark.parametrize(
    "healthy",
    [{}, {LABEL: ["cat", None]}, {"loss": pa.nulls(2)}, {"metric.accuracy": [1.0, 0.0]}, {"error": pa.nulls(2)}],
)
def test_what_cutaway_writes_is_taken_as_it_is(healthy: dict[str, Any]) -> None:
    assert as_written(table(**healthy), "training", [LABEL]).equals(table(**healthy))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("id", [1, 2]),
        ("id", [b"\xff", b"x"]),
        ("id", ["training/0", None]),
        ("id", ["training/0", "training/0"]),
        ("error", [["a"], None]),
        ("hash", [["a"], None]),
        ("loss", ["low", "high"]),
        ("loss", [[1.0], [2.0]]),
        ("metric.accuracy", [{"a": 1}, None]),
        (LABEL, [["a"], ["b"]]),
        (LABEL, [b"\xff", b"x"]),
    ],
)
def test_what_cutaway_does_not_write_is_refused_with_the_subset(column: str, values: list[Any]) -> None:
    with pytest.raises(EvaluationError, match=r"'training' is not as Cutaway writes it.*Evaluate again"):
        as_written(table(**{column: values}), "training", [LABEL])


@pytest.mark.parametrize("values", [[[1, 2], None], [b"\xff", None], [{"a": 1}, None]])
def test_metadata_that_are_no_plain_values_become_texts(values: list[Any]) -> None:
    column = as_written(table(**{"metadata.size": values}), "training", [])["metadata.size"]
    assert column.to_pylist() == [str(values[0]), None]


def test_metadata_of_two_types_become_texts_and_others_stay_numbers() -> None:
    first = pa.table({"metadata.code": [1, 2], "metadata.size": [1, 2]})
    second = pa.table({"metadata.code": ["x", None], "metadata.size": [0.5, None]})
    third = pa.table({"metadata.code": pa.nulls(1)})
    joined = joined_tables([first, second, third])
    assert joined["metadata.code"].to_pylist() == ["1", "2", "x", None, None]
    assert joined["metadata.size"].to_pylist() == [1.0, 2.0, 0.5, None, None]
