"""What the local storage does beyond the contract: real files, real system calls. The contract is in tests/contract."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from cutaway.errors import StorageError
from cutaway.run import storage as storage_module
from cutaway.run.storage import LocalStorage


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    (tmp_path / "run").mkdir()
    return LocalStorage(tmp_path / "run")


@pytest.mark.parametrize("most", [1, 3, 7, 100])
def test_a_system_that_takes_less_at_a_time_is_given_the_rest(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(os, "writev", lambda handle, pieces: os.write(handle, b"".join(pieces)[:most]))
    file = storage.create("a")
    assert file.append([b"zero", b"", b"one", memoryview(b"two")]) == 0
    assert file.append([b"three"]) == 10
    file.close()
    assert storage.read("a") == b"zeroonetwothree"


def test_a_disk_that_fills_up_within_a_write_raises_and_counts_what_is_there(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def writev(handle: int, pieces: Sequence[bytes]) -> int:
        calls.append(handle)
        if len(calls) == 1:
            return os.write(handle, b"".join(pieces)[:4])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = storage.create("a")
    monkeypatch.setattr(os, "writev", writev)
    with pytest.raises(StorageError, match=r"Cannot write 6 bytes to .*/a: No space left") as caught:
        file.append([b"0123456789"])
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert file.size == storage.size("a") == 4


def test_a_system_that_takes_nothing_is_not_asked_for_ever(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "writev", lambda handle, pieces: 0)
    file = storage.create("a")
    with pytest.raises(StorageError, match="took none"):
        file.append([b"x"])


@pytest.mark.parametrize(("most_pieces", "most_bytes", "calls"), [(1024, 1 << 30, 1), (2, 1 << 30, 3), (1024, 4, 4)])
def test_a_large_write_is_cut_into_what_one_call_takes(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, most_pieces: int, most_bytes: int, calls: int
) -> None:
    monkeypatch.setattr(storage_module, "MOST_PIECES", most_pieces)
    monkeypatch.setattr(storage_module, "MOST_BYTES", most_bytes)
    real, made = os.writev, []

    def writev(handle: int, pieces: Sequence[bytes]) -> int:
        made.append([len(memoryview(piece).cast("B")) for piece in pieces])
        return real(handle, pieces)

    monkeypatch.setattr(os, "writev", writev)
    file = storage.create("a")
    file.append([b"abc", b"d", b"efghi", b"", b"jk", memoryview(b"lmno").cast("H")])
    file.close()
    assert storage.read("a") == b"abcdefghijklmno"
    assert len(made) == calls
    assert all(len(sizes) <= most_pieces and sum(sizes) <= most_bytes for sizes in made)


def test_a_run_that_was_deleted_does_not_come_back_as_a_ghost(storage: LocalStorage) -> None:
    storage.replace("leases/a.json", b"alive")
    shutil.rmtree(storage.root)
    for write in (storage.create, lambda key: storage.replace(key, b"x")):
        with pytest.raises(StorageError, match="is gone"):
            write("leases/a.json")
    assert not storage.root.exists()


def test_a_folder_that_was_deleted_inside_a_run_is_made_again(storage: LocalStorage) -> None:
    storage.replace("leases/a.json", b"alive")
    shutil.rmtree(storage.root / "leases")
    storage.replace("leases/a.json", b"again")
    assert storage.read("leases/a.json") == b"again"


def test_a_key_below_a_file_cannot_be_written(storage: LocalStorage) -> None:
    storage.replace("a", b"file")
    for write in (storage.create, lambda key: storage.replace(key, b"x")):
        with pytest.raises(StorageError, match="Cannot make the folder"):
            write("a/b")
    assert storage.read("a") == b"file"
    assert storage.list("a") == []


def test_a_folder_is_not_replaced_by_a_file(storage: LocalStorage) -> None:
    storage.replace("a/b", b"x")
    with pytest.raises(StorageError, match="Cannot write"):
        storage.replace("a", b"y")
    assert storage.read("a/b") == b"x"


def test_a_name_that_is_too_long_is_a_storage_error(storage: LocalStorage) -> None:
    for write in (storage.create, lambda key: storage.replace(key, b"x")):
        with pytest.raises(StorageError, match="File name too long"):
            write("a" * 300)


def _synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    inodes, real = [], os.fsync

    def fsync(handle: int) -> None:
        inodes.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return inodes


def test_a_durable_file_is_synced_and_so_are_the_folders_that_name_it(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    inodes = _synced(monkeypatch)
    storage.replace("a/b/c.json", b"x")
    file, *folders = [(storage.root / name).stat().st_ino for name in ("a/b/c.json", "a/b", "a", ".", "..")]
    # The file first: a name must not become durable before what it names.
    assert inodes == [file, *folders]


def test_a_file_that_need_not_be_durable_is_not_synced(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    inodes = _synced(monkeypatch)
    storage.replace("a/b", b"x", durable=False)
    storage.create("c").close()
    assert inodes == []


def test_a_file_system_that_cannot_sync_folders_is_no_reason_to_stop(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    storage.replace("a", b"x")
    assert storage.read("a") == b"x"


@pytest.mark.parametrize("exclusive", [False, True])
def test_a_file_that_cannot_be_synced_leaves_what_was_there_and_no_litter(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, exclusive: bool
) -> None:
    storage.replace("folder/old", b"old")

    def fsync(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StorageError, match="Input/output error"):
        storage.replace("folder/new" if exclusive else "folder/old", b"new", exclusive=exclusive)
    assert storage.read("folder/old") == b"old"
    assert _all_names(storage.root / "folder") == ["old"]


def _all_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_replacing_leaves_no_litter(storage: LocalStorage) -> None:
    storage.replace("folder/a", b"1")
    storage.replace("folder/a", b"2")
    storage.replace("folder/b", b"3", exclusive=True)
    with pytest.raises(FileExistsError):
        storage.replace("folder/b", b"4", exclusive=True)
    assert _all_names(storage.root / "folder") == ["a", "b"]


def test_without_links_an_exclusive_file_is_still_exclusive(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hardlink_to(path: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(Path, "hardlink_to", hardlink_to)
    storage.replace("a", b"first", exclusive=True)
    with pytest.raises(FileExistsError):
        storage.replace("a", b"second", exclusive=True)
    assert storage.read("a") == b"first"
    assert _all_names(storage.root) == ["a"]


def test_what_a_killed_writer_left_beside_a_file_is_not_listed(storage: LocalStorage) -> None:
    storage.replace("folder/a.json", b"x")
    (storage.root / "folder" / ".a.json.4711.1").write_bytes(b"half")
    assert storage.list("folder") == ["a.json"]


def test_a_map_shows_the_bytes_of_the_file(storage: LocalStorage) -> None:
    storage.replace("a", b"mapped")
    storage.replace("empty", b"")
    assert bytes(storage.map("a")) == b"mapped"
    assert bytes(storage.map("empty")) == b""
    with pytest.raises(FileNotFoundError):
        storage.map("missing")


def test_it_says_where_it_is(tmp_path: Path) -> None:
    assert str(tmp_path) in repr(LocalStorage(tmp_path))
