"""Writing a table: names, headers, new segments after a failure, and who may write."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cutaway.errors import ConfigurationError, RunFormatError, StorageError
from cutaway.run import segments as module
from cutaway.run.checksum import CHECKSUM
from cutaway.run.schemas import SCALARS, SCHEMAS, STEPS, TENSORS
from cutaway.run.segments import ENTRY, Header, RawPlace, SegmentName, TableWriter, WriterId, parse_header
from cutaway.run.storage import LocalStorage
from cutaway.run.tables import TableReader
from tests.faulty_storage import Fault, FaultyStorage
from tests.memory_storage import MemoryStorage

WHO = WriterId("train", "worker_0", 0)


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


def _steps(storage: MemoryStorage, table: str = STEPS) -> list[int]:
    return TableReader(storage, table, list).read()["step"].to_pylist()


def _append(writer: TableWriter, step: int) -> None:
    writer.append_rows({"step": [step], "mode": ["TRAIN"]}, step)


@pytest.mark.parametrize("parts", [("train", "worker_0", 0, 0), ("watch", "worker_12", 3, 456)])
def test_a_segment_name_can_be_taken_apart_again(parts: tuple[str, str, int, int]) -> None:
    name = SegmentName(*parts)
    assert SegmentName.parse(f"{name.stem}.idx") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "idx",
        ".idx",
        "train-worker_0-0-0.arrow",
        "train-worker_0-0.idx",
        "a-b-c-d-e.idx",
        "a-b-0-x.idx",
        "a-b--1-0.idx",
    ],
)
def test_other_names_are_not_segments(name: str) -> None:
    assert SegmentName.parse(name) is None


@pytest.mark.parametrize(
    "writer", [("tr-ain", "w", 0), ("train", "w-0", 0), ("train", "../w", 0), ("train", "", 0), ("a", "b", -1)]
)
def test_a_writer_whose_rows_could_not_be_found_again_is_refused(
    storage: MemoryStorage, writer: tuple[str, str, int]
) -> None:
    with pytest.raises(ConfigurationError, match="letters, digits"):
        TableWriter(storage, STEPS, WriterId(*writer))


@pytest.mark.parametrize("table", SCHEMAS)
def test_a_header_reads_back(table: str) -> None:
    header = Header(CHECKSUM, SCHEMAS[table].serialize().to_pybytes())
    data = header.to_bytes()
    assert parse_header(data) == header
    assert parse_header(data + b"entries") == header
    assert header.size == len(data)
    assert len(data) % ENTRY.itemsize == 0


def test_a_header_that_is_not_finished_is_not_there_yet() -> None:
    data = Header(CHECKSUM, SCHEMAS[STEPS].serialize().to_pybytes()).to_bytes()
    for length in range(len(data)):
        assert parse_header(data[:length]) is None


def test_every_flipped_bit_of_a_header_is_found() -> None:
    data = Header(CHECKSUM, SCHEMAS[SCALARS].serialize().to_pybytes()).to_bytes()
    for bit in range(8 * len(data)):
        bad = bytearray(data)
        bad[bit // 8] ^= 1 << bit % 8
        with pytest.raises(RunFormatError):
            parse_header(bytes(bad))


def test_a_segment_is_a_plain_arrow_stream(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    for step in range(3):
        _append(writer, step)
    writer.close()
    stream = pa.ipc.open_stream(storage.read("trace/steps/train-worker_0-0-0.arrow")).read_all()
    assert stream["step"].to_pylist() == [0, 1, 2]


def test_nothing_is_created_before_the_first_batch(storage: MemoryStorage) -> None:
    TableWriter(storage, STEPS, WHO).close()
    assert storage.files == {}


def test_columns_that_are_left_out_are_null(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    writer.append_rows({"step": [1, 2], "epoch": pa.array([0, None], pa.int32())}, 1)
    rows = TableReader(storage, STEPS, list).read(columns=["step", "epoch", "mode", "samples"])
    assert rows.to_pydict() == {"step": [1, 2], "epoch": [0, None], "mode": [None, None], "samples": [None, None]}


def test_a_column_that_the_table_does_not_have_is_refused(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    with pytest.raises(ConfigurationError, match=r"no columns \['stpe'\]; it has \['step', "):
        writer.append_rows({"stpe": [1]}, 1)


def test_a_batch_of_another_table_is_refused(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    with pytest.raises(ConfigurationError, match="must have its schema"):
        writer.append(pa.RecordBatch.from_pylist([], schema=SCHEMAS[SCALARS]), 1)
    _append(writer, 1)
    assert _steps(storage) == [1]


def test_a_row_without_a_step_is_refused(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    for columns in ({"mode": ["TRAIN"]}, {"step": [1, None]}):
        with pytest.raises(ConfigurationError, match="must have a step, but 1 have none"):
            writer.append_rows(columns, 1)
    assert _steps(storage) == []


def test_a_full_segment_is_closed_and_the_next_one_begun(
    storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", 3000)
    writer = TableWriter(storage, STEPS, WHO)
    for step in range(45):
        _append(writer, step)
    writer.close()
    segments = [name for name in storage.list(STEPS) if name.endswith(".idx")]
    assert len(segments) > 10, "the numbers must be read as numbers"
    reader = TableReader(storage, STEPS, list)
    assert reader.read()["step"].to_pylist() == list(range(45))
    assert reader.verify(ended=True) == []


def test_raw_tensors_lie_in_the_segment_of_their_rows(storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOB_BYTES", 200)
    writer = TableWriter(storage, TENSORS, WHO)
    arrays = [np.full(40, step, np.uint8) for step in range(12)]
    for step, array in enumerate(arrays):
        row = {"step": [step, step], "tensor": ["a", "b"], "dtype": ["uint8"] * 2, "shape": [[40], [40]]}
        writer.append_tensors(row, step, [array, None])
    writer.close()
    assert len(storage.list(TENSORS)) >= 9
    reader = TableReader(storage, TENSORS, list)
    for batch in reader.poll():
        for row in batch.rows.to_pylist():
            if row["tensor"] == "b":
                assert row["offset"] is row["length"] is row["crc"] is None
            else:
                place = RawPlace(row["offset"], row["length"], row["crc"])
                assert reader.raw(batch.segment, place).tobytes() == arrays[row["step"]].tobytes()
    assert reader.verify(ended=True) == []


@pytest.mark.parametrize(
    "array", [np.zeros((0, 3), "f4"), np.float32(2), np.arange(6.0).reshape(2, 3).T, np.array([True])]
)
def test_any_shape_of_raw_tensor_is_kept(storage: MemoryStorage, array: np.ndarray) -> None:
    writer = TableWriter(storage, TENSORS, WHO)
    writer.append_tensors({"step": [0], "tensor": ["a"]}, 0, [np.asarray(array)])
    reader = TableReader(storage, TENSORS, list)
    [batch] = reader.poll()
    [row] = batch.rows.to_pylist()
    place = RawPlace(row["offset"], row["length"], row["crc"])
    assert reader.raw(batch.segment, place).tobytes() == array.tobytes()
    assert row["offset"] % 64 == 0


def test_it_counts_the_bytes_that_it_wrote(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, TENSORS, WHO)
    writer.append_tensors({"step": [0], "tensor": ["a"]}, 0, [np.zeros(100, np.uint8)])
    written = sum(len(file) for file in storage.files.values())
    header = Header(CHECKSUM, SCHEMAS[TENSORS].serialize().to_pybytes())
    assert writer.bytes_written == written - header.size - len(header.schema_bytes)


def test_closing_twice_is_allowed_and_writing_goes_on_in_a_new_segment(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    _append(writer, 0)
    writer.close()
    writer.close()
    _append(writer, 1)
    writer.close()
    assert _steps(storage) == [0, 1]
    assert len(storage.list(STEPS)) == 4


def test_an_abandoned_segment_is_not_closed_but_reads(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    _append(writer, 0)
    writer.abandon()
    writer.abandon()
    assert _steps(storage) == [0]
    assert [one.reason for one in TableReader(storage, STEPS, list).verify(ended=True)] == [
        "the segment was not closed"
    ]


def test_after_a_failed_write_the_next_batch_starts_a_new_segment(storage: MemoryStorage) -> None:
    faulty = FaultyStorage(storage)
    writer = TableWriter(faulty, STEPS, WHO)
    _append(writer, 0)
    faulty.fault = Fault(call=faulty.calls + 1, error=28, written=0.5)
    with pytest.raises(StorageError):
        _append(writer, 1)
    _append(writer, 2)
    assert _steps(storage) == [0, 2]
    assert [name for name in storage.list(STEPS) if name.endswith(".idx")] == [
        "train-worker_0-0-0.idx",
        "train-worker_0-0-1.idx",
    ]


def test_a_closing_mark_that_cannot_be_written_does_not_stop_the_writer(
    storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", 1)
    faulty = FaultyStorage(storage)
    writer = TableWriter(faulty, STEPS, WHO)
    _append(writer, 0)
    faulty.fault = Fault(call=faulty.calls + 1, error=28)
    with pytest.raises(StorageError):
        _append(writer, 1)
    _append(writer, 2)
    writer.close()
    assert _steps(storage) == [0, 2]


def test_an_interrupt_between_writing_and_counting_costs_no_later_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, real = LocalStorage(tmp_path), os.writev
    writer = TableWriter(storage, STEPS, WHO)
    _append(writer, 0)

    def interrupted(handle: int, pieces: Sequence[bytes]) -> int:
        real(handle, pieces)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "writev", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _append(writer, 1)
    monkeypatch.setattr(os, "writev", real)
    _append(writer, 2)
    writer.close()
    reader = TableReader(storage, STEPS, list)
    assert reader.read()["step"].to_pylist() == [0, 2]
    assert reader.damage == []


def test_a_later_writer_of_the_same_name_takes_the_next_number(storage: MemoryStorage) -> None:
    for step in range(3):
        writer = TableWriter(storage, STEPS, WHO)
        _append(writer, step)
        writer.close()
    assert _steps(storage) == [0, 1, 2]


def test_several_threads_may_append(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    threads = [
        threading.Thread(target=lambda start=start: [_append(writer, start + i) for i in range(50)])
        for start in (0, 1000, 2000)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert sorted(_steps(storage)) == [start + i for start in (0, 1000, 2000) for i in range(50)]
    assert TableReader(storage, STEPS, list).verify(ended=True) == []


def test_a_forked_child_can_neither_append_nor_close(storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = TableWriter(storage, STEPS, WHO)
    _append(writer, 0)
    before, real = {key: bytes(file) for key, file in storage.files.items()}, os.getpid()
    monkeypatch.setattr(module.os, "getpid", lambda: real + 1)
    with pytest.raises(StorageError, match=f"process {real} does"):
        _append(writer, 1)
    writer.close()
    writer.abandon()
    assert storage.files == before
    monkeypatch.undo()
    _append(writer, 2)
    writer.close()
    assert _steps(storage) == [0, 2]
