"""Reading a table: what was written comes back, live or later, and each step from the newest attempt."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.run.schemas import FINDINGS, SCALARS, SCHEMAS, STEPS
from cutaway.run.segments import SegmentName, TableWriter, WriterId
from cutaway.run.storage import LocalStorage
from cutaway.run.tables import Attempt, TableReader
from tests.memory_storage import MemoryStorage


def _values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Anything that a column of a kind can hold."""
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_integer(kind):
        signed = pa.types.is_signed_integer(kind)
        low, high = (-(2 ** (kind.bit_width - 1)) if signed else 0), 2 ** (kind.bit_width - int(signed)) - 1
        return st.integers(low, high)
    if pa.types.is_floating(kind):
        return st.floats(width=kind.bit_width)
    if pa.types.is_string(kind):
        return st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    if pa.types.is_map(kind):
        return st.dictionaries(_values(kind.key_type), _values(kind.item_type), max_size=3).map(
            lambda d: list(d.items())
        )
    assert pa.types.is_list(kind)
    return st.lists(st.none() | _values(kind.value_type), max_size=3)


def _rows(table: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    columns = {field.name: st.none() | _values(field.type) for field in SCHEMAS[table]}
    if "step" in columns:
        columns["step"] = _values(pa.int64())
    # Raw bytes have tests of their own; here no row points at any.
    columns |= {name: st.none() for name in ("offset", "length", "crc") if name in columns}
    return st.lists(st.fixed_dictionaries(columns), max_size=3)


def _comparable(value: Any) -> Any:
    return repr(value)  # NaN equals itself only as text


@pytest.mark.parametrize("table", SCHEMAS)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_rows_come_back_as_they_were_written(table: str, data: st.DataObject) -> None:
    batches = data.draw(st.lists(_rows(table), max_size=3))
    # Many equal neighbours are read another way than a few different ones.
    batches += data.draw(st.integers(0, 1)) * 10 * batches[:1]
    storage = MemoryStorage()
    writer = TableWriter(storage, table, WriterId("train", "worker_0", 0))
    for i, rows in enumerate(batches):
        writer.append(pa.RecordBatch.from_pylist(rows, schema=SCHEMAS[table]), i)
    if data.draw(st.booleans()):
        writer.close()
    reader = TableReader(storage, table, list)
    found = reader.read()
    written = pa.Table.from_pylist([row for rows in batches for row in rows], schema=SCHEMAS[table])
    assert _comparable(found.select(SCHEMAS[table].names).to_pylist()) == _comparable(written.to_pylist())
    assert found.schema.names == [*SCHEMAS[table].names, "worker", "attempt"]
    assert reader.damage == []
    assert reader.verify(ended=False) == []


def test_a_table_that_was_never_written_is_empty_and_has_its_columns() -> None:
    reader = TableReader(MemoryStorage(), STEPS, list)
    assert len(reader.read()) == 0
    assert reader.read().schema.names == [*SCHEMAS[STEPS].names, "worker", "attempt"]
    assert reader.read(columns=["worker", "step"]).schema.names == ["worker", "step"]


def test_empty_batches_are_no_rows_and_no_damage() -> None:
    storage = MemoryStorage()
    writer = TableWriter(storage, SCALARS, WriterId("train", "worker_0", 0))
    for step in range(20):
        writer.append(pa.RecordBatch.from_pylist([], schema=SCHEMAS[SCALARS]), step)
    writer.close()
    reader = TableReader(storage, SCALARS, list)
    assert len(reader.read()) == 0
    assert reader.verify(ended=True) == []


@pytest.mark.parametrize("local", [False, True])
def test_a_live_reader_sees_a_growing_prefix_and_in_the_end_all(tmp_path: Path, local: bool) -> None:
    storage = LocalStorage(tmp_path) if local else MemoryStorage()
    writer = TableWriter(storage, SCALARS, WriterId("train", "worker_0", 0))
    count = 400

    def write() -> None:
        for step in range(count):
            writer.append_rows({"name": ["loss"] * (1 + step % 3), "step": [step] * (1 + step % 3)}, step)
        writer.close()

    thread = threading.Thread(target=write)
    thread.start()
    expected = [step for step in range(count) for _ in range(1 + step % 3)]
    reader = TableReader(storage, SCALARS, list)
    seen: list[int] = []
    while thread.is_alive() or len(seen) < len(expected):
        for batch in reader.poll():
            seen += batch.rows["step"].to_pylist()
        assert seen == expected[: len(seen)]
    thread.join()
    assert reader.poll() == []
    assert reader.damage == []


def _write(storage: MemoryStorage, who: WriterId, steps: range | list[int], table: str = STEPS) -> None:
    writer = TableWriter(storage, table, who)
    for step in steps:
        writer.append_rows({"step": [step]}, step)
    writer.close()


ATTEMPTS = st.lists(
    st.tuples(st.integers(0, 12), st.lists(st.integers(0, 6), min_size=1, max_size=2)), min_size=1, max_size=5
)


@settings(max_examples=60, deadline=None)
@given(ATTEMPTS, st.booleans())
def test_each_step_comes_from_the_newest_attempt_that_covers_it(
    plan: list[tuple[int, list[int]]], unlisted: bool
) -> None:
    """Against a model: beginning an attempt forgets its first step and all after, whatever wrote them."""
    storage, attempts = MemoryStorage(), list[Attempt]()
    shown: set[tuple[str, int, int]] = set()
    everything: set[tuple[str, int, int]] = set()
    for number, (first, lengths) in enumerate(plan):
        attempts.append(Attempt(number, first))
        shown = {row for row in shown if row[2] < first}
        for rank, length in enumerate(lengths):
            steps = range(first, first + length)
            _write(storage, WriterId("train", f"worker_{rank}", number), steps)
            rows = {(f"worker_{rank}", number, step) for step in steps}
            shown |= rows
            everything |= rows
    # A damaged run.json may have lost the first attempts; the later ones still replace them.
    listed = attempts[1:] if unlisted and len(attempts) > 1 else attempts
    reader = TableReader(storage, STEPS, lambda: listed)
    assert _keys(reader.read()) == sorted(shown)
    for number, _ in enumerate(plan):
        assert _keys(reader.read(attempt=number)) == sorted(row for row in everything if row[1] == number)
    for worker, number, step in everything:
        assert reader.visible(SegmentName("train", worker, number, 0), step) == ((worker, number, step) in shown)


def _keys(table: pa.Table) -> list[tuple[str, int, int]]:
    return sorted(zip(*(table[name].to_pylist() for name in ("worker", "attempt", "step")), strict=True))


def test_what_others_than_the_training_wrote_is_not_replaced() -> None:
    storage = MemoryStorage()
    _write(storage, WriterId("train", "worker_0", 0), range(6), SCALARS)
    _write(storage, WriterId("watch", "worker_0", 0), range(6), SCALARS)
    reader = TableReader(storage, SCALARS, lambda: [Attempt(0, 0), Attempt(1, 3)])
    assert sorted(reader.read()["step"].to_pylist()) == [0, 0, 1, 1, 2, 2, 3, 4, 5]


def test_findings_of_earlier_attempts_stay() -> None:
    storage = MemoryStorage()
    for attempt in (0, 1):
        writer = TableWriter(storage, FINDINGS, WriterId("train", "worker_0", attempt))
        writer.append_rows({"id": [f"f{attempt}"]}, 0)
    reader = TableReader(storage, FINDINGS, lambda: [Attempt(0, 0), Attempt(1, 0)])
    assert sorted(reader.read()["id"].to_pylist()) == ["f0", "f1"]


def test_a_reader_that_was_there_before_the_resumption_sees_it() -> None:
    storage, attempts = MemoryStorage(), [Attempt(0, 0)]
    reader = TableReader(storage, STEPS, lambda: attempts)
    _write(storage, WriterId("train", "worker_0", 0), range(5))
    assert reader.read()["step"].to_pylist() == [0, 1, 2, 3, 4]
    attempts.append(Attempt(1, 2))
    _write(storage, WriterId("train", "worker_0", 1), [2])
    table = reader.read()
    assert list(zip(table["attempt"].to_pylist(), table["step"].to_pylist(), strict=True)) == [(0, 0), (0, 1), (1, 2)]


def test_files_that_are_no_segments_are_passed_over() -> None:
    storage = MemoryStorage()
    _write(storage, WriterId("train", "worker_0", 0), range(3))
    for name in ("notes.txt", "train-worker_0-0.idx", "x.arrow"):
        storage.replace(f"{STEPS}/{name}", b"anything")
    reader = TableReader(storage, STEPS, list)
    assert reader.read()["step"].to_pylist() == [0, 1, 2]
    assert reader.damage == []


def test_a_segment_whose_index_is_gone_is_found() -> None:
    storage = MemoryStorage()
    for worker in ("worker_0", "worker_1"):
        _write(storage, WriterId("train", worker, 0), range(3))
    storage.remove(f"{STEPS}/train-worker_0-0-0.idx")
    reader = TableReader(storage, STEPS, list)
    assert reader.read()["worker"].to_pylist() == ["worker_1"] * 3
    assert [(one.path, one.reason) for one in reader.verify(ended=True)] == [
        (f"{STEPS}/train-worker_0-0-0.arrow", "its index is missing")
    ]


def test_a_writer_that_died_before_its_first_batch_left_no_damage() -> None:
    storage = MemoryStorage()
    storage.replace(f"{STEPS}/train-worker_0-0-0.arrow", SCHEMAS[STEPS].serialize().to_pybytes())
    assert TableReader(storage, STEPS, list).verify(ended=True) == []
