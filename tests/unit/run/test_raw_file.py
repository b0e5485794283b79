"""Raw tensors: mapped or read, always checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.errors import RunDamaged
from cutaway.run.checksum import CHECKSUM, checksum
from cutaway.run.raw_file import RawFile
from cutaway.run.segments import RawPlace
from cutaway.run.storage import LocalStorage

DATA = bytes(range(64)) + b"abc" + bytes(61)
FIRST, SECOND, EMPTY = RawPlace(0, 64, checksum(DATA[:64])), RawPlace(64, 3, checksum(DATA[64:])), RawPlace(128, 0, 0)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path)
    storage.replace("a.bin", DATA)
    return storage


@pytest.mark.parametrize("settled", [False, True])
def test_tensors_come_back_as_they_were(storage: LocalStorage, settled: bool) -> None:
    raw = RawFile(storage, "a.bin", CHECKSUM)
    if settled:
        raw.settle()
        raw.settle()
    assert [bytes(raw.view(place)) for place in (FIRST, SECOND, EMPTY)] == [DATA[:64], b"abc", b""]
    assert not raw.read(*FIRST).flags.writeable


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (DATA[:64] + b"abd" + bytes(61), "it fails its checksum"),
        (DATA[:-1] + b"\1", "it fails its checksum"),
        (DATA[:70], "58 bytes are missing"),
        (DATA[:60], "64 bytes are missing"),
        (b"", "64 bytes are missing"),
    ],
)
def test_what_is_not_as_written_is_damage(storage: LocalStorage, settled: bool, data: bytes, reason: str) -> None:
    storage.replace("a.bin", data)
    raw = RawFile(storage, "a.bin", CHECKSUM)
    if settled:
        raw.settle()
    with pytest.raises(RunDamaged) as caught:
        raw.view(SECOND)
    assert (caught.value.path, caught.value.offset, caught.value.reason) == ("a.bin", 64, reason)


@pytest.mark.parametrize("settled", [False, True])
def test_a_missing_file_is_damage(storage: LocalStorage, settled: bool) -> None:
    storage.remove("a.bin")
    raw = RawFile(storage, "a.bin", CHECKSUM)
    if settled:
        raw.settle()
    with pytest.raises(RunDamaged, match="No such file"):
        raw.view(FIRST)
