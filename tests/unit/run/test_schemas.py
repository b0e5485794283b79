"""The tables' columns: names that a folder can have, and the columns that readers rely on."""

from __future__ import annotations

import pytest

from cutaway.run import schemas
from cutaway.run.schemas import FINDINGS, SCHEMAS, STATISTICS, TENSORS
from cutaway.run.segments import RawPlace
from cutaway.tensors.statistic_names import STATISTIC_NAMES


def test_every_table_has_a_name_that_says_so() -> None:
    named = {getattr(schemas, name) for name in schemas.__all__ if isinstance(getattr(schemas, name), str)}
    assert named == set(SCHEMAS)


@pytest.mark.parametrize("table", SCHEMAS)
def test_no_table_has_the_columns_that_reading_adds(table: str) -> None:
    assert not {"worker", "attempt"} & set(SCHEMAS[table].names)


@pytest.mark.parametrize("table", [table for table in SCHEMAS if table != FINDINGS])
def test_every_table_but_the_findings_is_keyed_by_step(table: str) -> None:
    assert str(SCHEMAS[table].field("step").type) == "int64"


def test_every_statistic_is_a_column() -> None:
    assert set(STATISTIC_NAMES) < set(SCHEMAS[STATISTICS].names)


def test_rows_of_tensors_hold_the_place_of_their_bytes() -> None:
    assert set(RawPlace._fields) < set(SCHEMAS[TENSORS].names)
