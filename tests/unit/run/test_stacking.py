"""Batches read many at a time must be the batches that Arrow reads one at a time."""

from __future__ import annotations

import random
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.run.ipc_layout import gather_numbers
from cutaway.run.rows import TableRows
from cutaway.run.schemas import SCHEMAS
from cutaway.run.stacking import read_rows

Message = tuple[np.ndarray, np.ndarray, np.ndarray]


def _laid_out(batches: list[pa.RecordBatch]) -> Message:
    pieces = [batch.serialize().to_pybytes() for batch in batches]
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(lengths) - lengths, lengths


def _table(rows: list[tuple[int, TableRows]]) -> pa.Table:
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


@pytest.mark.one_in(2)
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
    # Column by column they come another way.
    for part, (_, rows) in zip(found, read_rows(*_laid_out(batches), schema), strict=True):
        assert len(rows) == len(part)
        for name in schema.names:
            rows.column(name).validate(full=True)
            assert rows.column(name).to_pylist() == part[name].to_pylist()
    assert pa.Table.from_batches(found, schema).to_pylist() == pa.Table.from_batches(batches, schema).to_pylist()


@pytest.mark.parametrize("column", ["step", "time", "epoch", "forward"])
def test_numbers_of_batches_of_many_sizes_are_gathered_without_arrow(column: str) -> None:
    schema, chance = SCHEMAS["trace/steps"], random.Random(0)
    batches = [_batch(schema, chance, chance.randrange(1, 5), chance.randrange(4), "none") for _ in range(200)]
    data, starts, _ = _laid_out(batches)
    found = gather_numbers(data, starts, schema, column)
    assert found is not None
    assert found.to_pylist() == pa.Table.from_batches(batches)[column].to_pylist()


@pytest.mark.parametrize("column", ["mode", "samples", "statistics"])
def test_what_is_no_number_is_left_to_arrow(column: str) -> None:
    schema = SCHEMAS["trace/steps"]
    data, starts, _ = _laid_out([_batch(schema, random.Random(0), 2, 1, "none")] * 9)
    assert gather_numbers(data, starts, schema, column) is None


def test_a_column_with_nulls_and_compressed_batches_are_left_to_arrow() -> None:
    schema = pa.schema({"step": pa.int64(), "value": pa.float64()})
    batches = [pa.record_batch([[i], [None if i == 5 else 1.0]], schema) for i in range(9)]
    data, starts, _ = _laid_out(batches)
    assert gather_numbers(data, starts, schema, "value") is None
    assert gather_numbers(data, starts, schema, "step").to_pylist() == list(range(9))
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    squeezed = pa.record_batch([[1] * 500, [1.0] * 500], schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_batch(squeezed)
    stream = np.frombuffer(sink.getvalue(), np.uint8)[len(schema.serialize()) :]
    assert gather_numbers(stream, np.zeros(1, np.int64), schema, "step") is None


@given(st.binary(max_size=400))
def test_bytes_that_describe_no_batch_are_refused(description: bytes) -> None:
    padded = description + bytes(-len(description) % 8)
    data = np.frombuffer(struct.pack("<II", 0xFFFFFFFF, len(padded)) + padded + bytes(64), np.uint8)
    schema = SCHEMAS["values"]
    assert gather_numbers(data, np.zeros(1, np.int64), schema, "step") is None


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
