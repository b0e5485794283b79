"""Every single write of a table fails in turn, once or for ever, whole or in part, as on a full or broken disk."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

from cutaway.errors import StorageError
from cutaway.run import segments
from cutaway.run.documents import read_document, write_document
from cutaway.run.leases import Lease, RunState, training_states
from cutaway.run.schemas import STEPS, TENSORS
from cutaway.run.segments import RawPlace, TableWriter, WriterId
from cutaway.run.storage import Storage
from cutaway.run.tables import TableReader
from tests.faults.jobs import tensor_of
from tests.faulty_storage import Fault, FaultyStorage
from tests.memory_storage import MemoryAppender, MemoryStorage

pytestmark = pytest.mark.faults

WHO = WriterId("train", "worker_0", 0)
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
STEPS_WRITTEN = 9

Outcome = tuple[list[int], list[int]]


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of a few batches, so that every kind of write is among those that fail."""
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 3000)
    monkeypatch.setattr(segments, "BLOB_BYTES", 900)


def _write_steps(storage: Storage) -> Outcome:
    """Write rows, and return the steps that were acknowledged and those that were refused."""
    return _attempt(TableWriter(storage, STEPS, WHO), lambda writer, step: writer.append_rows({"step": [step]}, step))


def _write_tensors(storage: Storage) -> Outcome:
    def append(writer: TableWriter, step: int) -> None:
        rows = {"step": [step, step], "tensor": ["a", "b"]}
        writer.append_tensors(rows, step, [tensor_of(0, step), tensor_of(1, step)])

    return _attempt(TableWriter(storage, TENSORS, WHO), append)


def _attempt(writer: TableWriter, append: Callable[[TableWriter, int], None]) -> Outcome:
    acknowledged, refused = [], []
    for step in range(STEPS_WRITTEN):
        try:
            append(writer, step)
        except StorageError:
            refused.append(step)
        else:
            acknowledged.append(step)
    try:
        writer.close()
    except StorageError:
        refused.append(-1)
    writer.close()
    return acknowledged, refused


def _every_fault(calls: int) -> Iterator[Fault]:
    for call in range(1, calls + 1):
        for lasting in (False, True):
            for share in (0.0, 0.5, 1.0):
                yield Fault(call, ERRORS[call % len(ERRORS)], share, lasting)


def _damage(reader: TableReader) -> list[str]:
    """What is wrong with the files beyond the torn tails that a failed write leaves."""
    torn = ("the segment was not closed", "unfinished entry", "that no entry lists", "the index ends inside its header")
    return [one.reason for one in reader.verify(ended=True) if not one.reason.endswith(torn)]


@pytest.mark.parametrize("write", [_write_steps, _write_tensors])
def test_whichever_write_fails_nothing_acknowledged_is_lost_and_nothing_torn_is_shown(
    write: Callable[[Storage], Outcome],
) -> None:
    healthy = FaultyStorage(MemoryStorage())
    assert write(healthy) == (list(range(STEPS_WRITTEN)), [])
    for fault in _every_fault(healthy.calls):
        inner = MemoryStorage()
        faulty = FaultyStorage(inner, fault)
        acknowledged, refused = write(faulty)
        assert faulty.failures, fault
        assert refused, fault
        _check(inner, acknowledged, fault)
        if not fault.lasting:
            assert len(acknowledged) >= STEPS_WRITTEN - 1, f"{fault}: the writer did not go on in a new segment"


def _check(storage: MemoryStorage, acknowledged: list[int], fault: Fault) -> None:
    table = STEPS if storage.list(STEPS) else TENSORS
    reader = TableReader(storage, table, list)
    seen: list[int] = []
    for batch in reader.poll():
        for row in batch.rows.to_pylist():
            seen.append(row["step"])
            if table == TENSORS:
                place = RawPlace(row["offset"], row["length"], row["crc"])
                expected = tensor_of(0 if row["tensor"] == "a" else 1, row["step"])
                assert bytes(reader.raw(batch.segment, place)) == expected.tobytes(), fault
    expected_rows = sorted(acknowledged * (1 if table == STEPS else 2))
    if fault.written < 1:
        assert seen == expected_rows, fault
    else:
        # The bytes are all there although the call said that it failed: shown or not, but never in part.
        assert set(acknowledged) <= set(seen), fault
        assert len(seen) == len(set(seen)) * (1 if table == STEPS else 2), fault
    assert _damage(reader) == [], fault


def test_a_disk_that_stays_full_costs_no_open_files() -> None:
    class Counting(MemoryStorage):
        opened = closed = 0

        def create(self, key: str) -> MemoryAppender:
            file = super().create(key)
            Counting.opened += 1
            close = file.close

            def counted() -> None:
                Counting.closed += 1
                close()

            file.close = counted
            return file

    for call in range(1, 7):
        storage = Counting()
        _write_tensors(FaultyStorage(storage, Fault(call, errno.ENOSPC, lasting=True)))
    assert Counting.opened == Counting.closed > 0


@pytest.mark.parametrize("error", ERRORS)
def test_the_error_says_what_the_system_said(error: int) -> None:
    writer = TableWriter(FaultyStorage(MemoryStorage(), Fault(1, error)), STEPS, WHO)
    with pytest.raises(StorageError) as caught:
        writer.append(pa.RecordBatch.from_pylist([{"step": 1}], schema=writer.schema), 1)
    assert isinstance(caught.value, OSError)
    assert caught.value.__cause__.errno == error


def test_a_document_whose_replacement_fails_stays_as_it_was() -> None:
    inner = MemoryStorage()
    write_document(inner, "a.json", {"version": 1})
    with pytest.raises(StorageError):
        write_document(FaultyStorage(inner, Fault(1, errno.ENOSPC)), "a.json", {"version": 2})
    assert read_document(inner, "a.json") == {"version": 1}


def test_a_lease_that_misses_a_beat_goes_on() -> None:
    faulty = FaultyStorage(MemoryStorage())
    lease = Lease(faulty, "run", WHO)
    faulty.fault = Fault(call=2, error=errno.EIO)
    with pytest.raises(StorageError):
        lease.beat()
    lease.beat()
    lease.release(RunState.FINISHED)
    assert training_states([faulty]) == [RunState.FINISHED]


def test_raw_bytes_and_rows_that_never_came_together_are_not_shown() -> None:
    inner = MemoryStorage()
    faulty = FaultyStorage(inner)
    writer = TableWriter(faulty, TENSORS, WHO)
    writer.append_tensors({"step": [0], "tensor": ["a"]}, 0, [np.arange(9)])
    # The raw bytes are written, their rows are not.
    faulty.fault = Fault(call=faulty.calls + 2, error=errno.ENOSPC)
    with pytest.raises(StorageError):
        writer.append_tensors({"step": [1], "tensor": ["a"]}, 1, [np.arange(9)])
    assert TableReader(inner, TENSORS, list).read()["step"].to_pylist() == [0]
