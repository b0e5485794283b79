"""Batches read many at a time must be the batches that Arrow reads one at a time."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.run.rows import Rows
from cutaway.run.schemas import SCHEMAS
from cutaway.run.stacking import read_rows

Message = tuple[np.ndarray, np.ndarray, np.ndarray]


def _laid_out(batches: list[pa.RecordBatch]) -> Message:
    pieces = [batch.serialize().to_pybytes() for batch in batches]
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(lengths) - lengths, lengths


def _table(rows: list[tuple[int, Rows]]) -> pa.Table:
    return pa.Table.from_batches([part.record_batch() for _, part in rows])


def _value(kind: pa.DataType, chance: random.Random, length: int) -> object:
    if pa.types.is_boolean(kind):
        return chance.random() < 0.5
    if pa.types.is_integer(kind):
        return chance.randrange(1 << 7)
    if pa.types.is_floating(kind):
        return chance.choice([0.0, -1.5, float("inf"), 3e7])
    if pa.types.is_string(kind):
        return "".join(chance.choice("abcé") for _ in range(length))
    if pa.types.is_list(kind):
        return [_value(kind.value_type, chance, length) for _ in range(length)]
    assert pa.types.is_map(kind)
    return [(_value(kind.key_type, chance, 3), _value(kind.item_type, chance, length)) for _ in range(length)]


def _batch(schema: pa.Schema, chance: random.Random, rows: int, length: int, nulls: str) -> pa.RecordBatch:
    def cell(kind: pa.DataType, row: int) -> object:
        missing = {"none": False, "all": True, "some": row % 3 == 0, "random": chance.random() < 0.5}[nulls]
        return None if missing else _value(kind, chance, length)

    arrays = [pa.array([cell(field.type, row) for row in range(rows)], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@pytest.mark.parametrize("table", sorted(SCHEMAS))
@given(
    groups=st.lists(
        st.tuples(
            st.integers(1, 100),
            st.integers(0, 9),
            st.integers(0, 3),
            st.sampled_from(["none", "all", "some", "random"]),
        ),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 1000),
)
@settings(max_examples=25, deadline=None)
def test_stacked_batches_are_what_arrow_reads_one_by_one(
    table: str, groups: list[tuple[int, int, int, str]], seed: int
) -> None:
    schema, chance = SCHEMAS[table], random.Random(seed)
    batches = [
        _batch(schema, chance, rows, length, nulls) for count, rows, length, nulls in groups for _ in range(count)
    ]
    found = [rows.record_batch() for _, rows in read_rows(*_laid_out(batches), schema)]
    for part in found:
        part.validate(full=True)
    assert pa.Table.from_batches(found, schema).to_pylist() == pa.Table.from_batches(batches, schema).to_pylist()


def test_a_thousand_equal_batches_come_as_one() -> None:
    schema = SCHEMAS["trace/tensors"]
    batch = _batch(schema, random.Random(0), 60, 2, "none")
    assert [len(part) for _, part in read_rows(*_laid_out([batch] * 1000), schema)] == [60_000]


def test_batches_with_gaps_between_them_are_not_mixed_up() -> None:
    schema = SCHEMAS["values"]
    batches = [_batch(schema, random.Random(i), 3, 1, "none") for i in range(300)]
    data, starts, lengths = _laid_out(batches)
    kept = np.array([i for i in range(300) if i not in (4, 90, 200)])
    found = _table(read_rows(data, starts[kept], lengths[kept], schema))
    assert found.to_pylist() == pa.Table.from_batches([batches[i] for i in kept]).to_pylist()


def test_a_column_of_a_kind_that_is_not_gathered_is_left_to_arrow() -> None:
    schema = pa.schema({"step": pa.int64(), "odd": pa.decimal128(5, 2)})
    batches = [
        pa.record_batch([[i], pa.array([i]).cast(pa.decimal128(21, 2)).cast(pa.decimal128(5, 2))], schema)
        for i in range(70)
    ]
    found = _table(read_rows(*_laid_out(batches), schema))
    assert found.to_pylist() == pa.Table.from_batches(batches).to_pylist()


@pytest.mark.parametrize("nulls", ["none", "all", "some", "random"])
def test_single_rows_and_columns_are_those_of_the_whole(nulls: str) -> None:
    schema = SCHEMAS["trace/tensors"]
    names = pa.array([f"tensor_{i}" for i in range(6)])
    batches = [_batch(schema, random.Random(i), 6, 2, nulls).set_column(1, "tensor", names) for i in range(140)]
    whole = pa.Table.from_batches(batches)
    for _, rows in read_rows(*_laid_out(batches), schema):
        places = np.array([0, 7, 7, 60, len(rows) - 1])
        for column in schema.names:
            expected = whole[column].combine_chunks()[: len(rows)]
            assert rows.take(column, places).to_pylist() == expected.take(pa.array(places)).to_pylist()
            assert rows.column(column).to_pylist() == expected.to_pylist()
        whole = whole.slice(len(rows))


def test_a_column_that_every_batch_repeats_is_known_to() -> None:
    schema = SCHEMAS["values"]
    batches = [
        pa.RecordBatch.from_pydict(
            {"step": [i] * 2, "sample": ["training/1", "training/2"], "name": ["loss", None], "value": [0.5, i / 7]},
            schema,
        )
        for i in range(100)
    ]
    [(_, rows)] = read_rows(*_laid_out(batches), schema)
    assert {name: rows.repeated(name) is not None for name in schema.names} == {
        "step": False,
        "sample": True,
        "name": True,
        "value": False,
    }
