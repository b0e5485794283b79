"""Following one segment: live tails, late batches, and every way in which its files can be damaged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cutaway.run.documents import write_document
from cutaway.run.schemas import SCHEMAS, STEPS, TENSORS
from cutaway.run.segment_reader import Damage, SegmentReader
from cutaway.run.segments import ENTRY_BYTES, Header, SegmentName, TableWriter, WriterId, parse_header
from tests.memory_storage import MemoryStorage

STEM = "trace/steps/train-worker_0-0-0"
NAME = SegmentName("train", "worker_0", 0, 0)


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def writer(storage: MemoryStorage) -> TableWriter:
    writer = TableWriter(storage, STEPS, WriterId("train", "worker_0", 0))
    for step in range(5):
        writer.append_rows({"step": [step], "mode": ["TRAIN"]}, step)
    return writer


class Looker:
    """A reader, all that it has returned, and all that it has named."""

    def __init__(self, storage: MemoryStorage) -> None:
        self.reader = SegmentReader(storage, STEPS, NAME)
        self.damage: list[Damage] = []
        self.steps: list[int] = []

    def poll(self) -> list[int]:
        for batch in self.reader.poll(self.damage):
            self.steps += batch.rows["step"].to_pylist()
        return self.steps

    def named(self) -> list[tuple[str, str]]:
        return [(one.path.rpartition(".")[2], one.reason) for one in self.damage]


def _header(storage: MemoryStorage) -> Header:
    header = parse_header(storage.read(f"{STEM}.idx"))
    assert header is not None
    return header


def test_a_live_segment_is_followed(storage: MemoryStorage, writer: TableWriter) -> None:
    looker = Looker(storage)
    assert looker.poll() == [0, 1, 2, 3, 4]
    assert looker.poll() == [0, 1, 2, 3, 4]
    writer.append_rows({"step": [5]}, 5)
    assert looker.poll() == [0, 1, 2, 3, 4, 5]
    assert not looker.reader.closed
    writer.close()
    assert looker.poll() == [0, 1, 2, 3, 4, 5]
    assert looker.reader.closed
    assert looker.damage == []


def test_at_every_length_of_the_index_what_is_shown_is_a_prefix(storage: MemoryStorage, writer: TableWriter) -> None:
    writer.close()
    index, start = storage.read(f"{STEM}.idx"), _header(storage).size
    looker = Looker(storage)
    for length in range(len(index) + 1):
        storage.replace(f"{STEM}.idx", index[:length])
        assert looker.poll() == list(range(min(max(length - start, 0) // ENTRY_BYTES, 5)))
    assert looker.damage == []


def test_a_batch_that_comes_after_its_entry_is_not_there_yet(storage: MemoryStorage, writer: TableWriter) -> None:
    stream = storage.read(f"{STEM}.arrow")
    looker = Looker(storage)
    seen: set[int] = set()
    for length in range(len(_header(storage).schema_bytes), len(stream) + 1):
        storage.replace(f"{STEM}.arrow", stream[:length])
        steps = looker.poll()
        assert steps == list(range(len(steps)))
        seen.add(len(steps))
    assert seen == set(range(6))
    assert looker.damage == []


def test_a_segment_whose_batches_never_came_is_named_once_it_ended(storage: MemoryStorage, writer: TableWriter) -> None:
    storage.replace(f"{STEM}.arrow", storage.read(f"{STEM}.arrow")[:-1])
    looker = Looker(storage)
    assert looker.poll() == [0, 1, 2, 3]
    assert looker.damage == []
    reasons = {one.path: one.reason for one in looker.reader.leftovers()}
    assert reasons[f"{STEM}.arrow"].endswith("bytes that no entry lists") or "ends before" in reasons[f"{STEM}.arrow"]


def _flip(storage: MemoryStorage, ending: str, place: int) -> None:
    storage.files[f"{STEM}.{ending}"][place] ^= 0x10


@pytest.mark.parametrize(
    ("place", "steps", "named"),
    [
        (lambda s: ("arrow", 20), [0, 1, 2, 3, 4], [("arrow", "its schema is damaged; the index's copy is used")]),
        (
            lambda s: ("arrow", len(_header(s).schema_bytes) + 9),
            [1, 2, 3, 4],
            [("arrow", "a batch fails its checksum")],
        ),
        (lambda s: ("arrow", s.size(f"{STEM}.arrow") - 1), [0, 1, 2, 3], [("arrow", "a batch fails its checksum")]),
        (
            lambda s: ("idx", _header(s).size + 3 * ENTRY_BYTES),
            [0, 1, 2, 4],
            [("idx", "an index entry fails its checksum")],
        ),
        (lambda s: ("idx", s.size(f"{STEM}.idx") - 1), [0, 1, 2, 3, 4], [("idx", "an index entry fails its checksum")]),
    ],
)
def test_a_flipped_bit_costs_at_most_its_own_batch(
    storage: MemoryStorage,
    writer: TableWriter,
    place: Callable[[MemoryStorage], tuple[str, int]],
    steps: list[int],
    named: list[tuple[str, str]],
) -> None:
    writer.close()
    _flip(storage, *place(storage))
    looker = Looker(storage)
    assert looker.poll() == steps
    assert looker.named() == named


@pytest.mark.parametrize("place", [0, 8, 12, 16, 24, 28, 40, 200])
def test_a_damaged_header_costs_nothing(storage: MemoryStorage, writer: TableWriter, place: int) -> None:
    writer.close()
    _flip(storage, "idx", place)
    looker = Looker(storage)
    assert looker.poll() == [0, 1, 2, 3, 4]
    assert [ending for ending, _ in looker.named()] == ["idx"]
    assert looker.damage[0].reason.endswith("the stream's own schema is used")


def test_with_both_schemas_damaged_the_segment_is_named_once_and_nothing_is_made_up(
    storage: MemoryStorage, writer: TableWriter
) -> None:
    _flip(storage, "idx", 40)
    name = storage.read(f"{STEM}.arrow").index(b"mode_step")
    _flip(storage, "arrow", name)
    looker = Looker(storage)
    for _ in range(3):
        assert looker.poll() == []
    assert len(looker.damage) == 1
    assert "damaged too" in looker.damage[0].reason


@pytest.mark.parametrize("missing", ["arrow", "idx"])
def test_a_missing_file_is_named_once_and_read_when_it_is_back(
    storage: MemoryStorage, writer: TableWriter, missing: str
) -> None:
    data = storage.files.pop(f"{STEM}.{missing}")
    looker = Looker(storage)
    for _ in range(3):
        assert looker.poll() == []
    assert [ending for ending, _ in looker.named()] == [missing]
    assert looker.reader.leftovers() == []
    storage.files[f"{STEM}.{missing}"] = data
    assert looker.poll() == [0, 1, 2, 3, 4]


def test_a_disk_that_fails_for_a_moment_costs_no_batch(
    storage: MemoryStorage, writer: TableWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    looker, real = Looker(storage), storage.read
    assert len(looker.poll()) == 5
    writer.append_rows({"step": [5]}, 5)

    def read(key: str, offset: int = 0, length: int | None = None) -> bytes:
        if key.endswith(".arrow"):
            raise OSError(5, "Input/output error")
        return real(key, offset, length)

    monkeypatch.setattr(storage, "read", read)
    assert len(looker.poll()) == 5
    assert looker.named() == [("arrow", "it cannot be read: Input/output error")]
    monkeypatch.undo()
    assert len(looker.poll()) == 6


def test_an_index_that_ends_inside_its_header_is_named_once_it_ended(
    storage: MemoryStorage, writer: TableWriter
) -> None:
    storage.replace(f"{STEM}.idx", storage.read(f"{STEM}.idx")[:50])
    looker = Looker(storage)
    assert looker.poll() == []
    assert [one.reason for one in looker.reader.leftovers()] == ["the index ends inside its header"]


@pytest.mark.parametrize(
    ("ending", "more", "reason"),
    [("idx", b"x" * 7, "7 bytes of an unfinished entry"), ("arrow", b"x" * 9, "9 bytes that no entry lists")],
)
def test_a_torn_tail_is_not_shown_and_named_once_it_ended(
    storage: MemoryStorage, writer: TableWriter, ending: str, more: bytes, reason: str
) -> None:
    storage.files[f"{STEM}.{ending}"] += more
    looker = Looker(storage)
    assert looker.poll() == [0, 1, 2, 3, 4]
    assert looker.damage == []
    assert [one.reason for one in looker.reader.leftovers()] == [reason, "the segment was not closed"]


def test_a_healthy_closed_segment_leaves_nothing_over(storage: MemoryStorage, writer: TableWriter) -> None:
    writer.close()
    looker = Looker(storage)
    looker.poll()
    assert looker.reader.leftovers() == looker.damage == []


def test_damage_says_which_step_it_cost(storage: MemoryStorage, writer: TableWriter) -> None:
    _flip(storage, "arrow", storage.size(f"{STEM}.arrow") - 1)
    looker = Looker(storage)
    looker.poll()
    assert [(one.step, one.path) for one in looker.damage] == [(4, f"{STEM}.arrow")]


def test_raw_tensors_that_are_damaged_are_named_with_tensor_and_step(storage: MemoryStorage) -> None:
    writer = TableWriter(storage, TENSORS, WriterId("train", "worker_0", 0))
    for step in range(3):
        writer.append_tensors({"step": [step], "tensor": [f"t{step}"]}, step, [np.arange(10, dtype="u1")])
    writer.close()
    storage.files["trace/tensors/train-worker_0-0-0.bin"][64 + 63] ^= 1  # in the padding
    reader, damage = SegmentReader(storage, TENSORS, NAME), list[Damage]()
    found = [one for batch in reader.poll(damage) for one in reader.check_raw(batch)]
    assert damage == []
    assert found == [
        Damage("trace/tensors/train-worker_0-0-0.bin", 64, 1, "tensor 't1': it fails its checksum"),
    ]


def test_a_document_in_the_folder_of_a_table_does_no_harm(storage: MemoryStorage, writer: TableWriter) -> None:
    write_document(storage, "trace/steps/readme.json", {})
    looker = Looker(storage)
    assert looker.poll() == [0, 1, 2, 3, 4]
    assert SCHEMAS[STEPS].names[0] == "step"


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_a_range_of_steps_is_found_without_the_others(
    storage: MemoryStorage, writer: TableWriter, size: int, *, closed: bool
) -> None:
    writer.append_rows({"step": [10, 11, 12]}, 10)
    if closed:
        writer.close()
    reader, damage = SegmentReader(storage, STEPS, NAME), list[Damage]()

    def between(start: int, stop: int) -> list[int]:
        return [s for batch in reader.between(start, stop, damage, size) for s in batch.rows["step"].to_pylist()]

    assert reader.steps(damage).tolist() == [0, 1, 2, 3, 4, 10]
    assert between(1, 3) == [1, 2]
    assert between(11, 12) == [10, 11, 12]
    assert between(5, 9) == [4]
    assert between(12, 1 << 62) == [10, 11, 12]
    assert damage == []
    writer.append_rows({"step": [13]}, 13)
    assert (13 in reader.steps(damage)) is not closed


def test_damage_in_a_range_is_named_once_and_costs_only_its_batch(storage: MemoryStorage, writer: TableWriter) -> None:
    writer.close()
    content = bytearray(storage.read(f"{STEM}.arrow"))
    content[-1] ^= 1
    storage.replace(f"{STEM}.arrow", bytes(content))
    reader, damage = SegmentReader(storage, STEPS, NAME), list[Damage]()
    for _ in range(2):
        found = [batch.rows["step"].to_pylist() for batch in reader.between(3, 9, damage, 1 << 20)]
        assert found == [[3]]
    assert [(one.step, one.reason) for one in damage] == [(4, "a batch fails its checksum")]


def test_a_segment_that_is_gone_has_no_steps_and_says_so(storage: MemoryStorage) -> None:
    reader, damage = SegmentReader(storage, STEPS, NAME), list[Damage]()
    assert reader.steps(damage).tolist() == []
    assert list(reader.between(0, 9, damage, 1)) == []
    assert len(damage) == 1
