"""The contract of a storage, as a class of tests. A storage's own tests subclass it and override one fixture:

class TestBucketStorage(StorageContract):
    @pytest.fixture
    def storage(self, bucket):
        return BucketStorage(bucket)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest

from cutaway.errors import ConfigurationError, StorageError
from cutaway.run.storage import Bytes, Storage

__all__ = ["StorageContract"]

LEAVING = ("", "/", "/etc/passwd", "..", "../a", "a/../../b", "a/..", ".", "./a", "a/.", "a//b", "a/", "a\\b", "a\0b")
RIVALS = 8

Result = TypeVar("Result")


class StorageContract:
    """What every storage of a run must do."""

    @pytest.fixture
    def storage(self) -> Storage:
        """Return a storage that holds nothing; the subclass overrides this."""
        message = "Override the fixture `storage` to return an empty storage."
        raise NotImplementedError(message)

    @pytest.mark.parametrize("size", [0, 1, 63, 1 << 20])
    def test_a_replaced_file_reads_back_bit_for_bit(self, storage: Storage, size: int) -> None:
        data = random.Random(size).randbytes(size)
        storage.replace("folder/file.bin", b"something else before")
        storage.replace("folder/file.bin", data)
        assert storage.read("folder/file.bin") == data
        assert storage.size("folder/file.bin") == size

    def test_a_file_that_need_not_be_durable_is_still_whole(self, storage: Storage) -> None:
        storage.replace("a", b"old", durable=False)
        storage.replace("a", b"new bytes", durable=False)
        assert storage.read("a") == b"new bytes"

    def test_a_reader_sees_the_old_bytes_or_the_new_ones(self, storage: Storage) -> None:
        versions = [bytes([i]) * (1000 + 977 * i) for i in range(40)]
        storage.replace("a", versions[0], durable=False)
        with ThreadPoolExecutor(1) as pool:
            writing = [pool.submit(storage.replace, "a", version, durable=False) for version in versions]
            seen = {storage.read("a")}
            while not writing[-1].done():
                seen.add(storage.read("a"))
            for one in writing:
                one.result()
        assert seen <= set(versions)
        assert storage.read("a") == versions[-1]

    def test_threads_that_replace_one_file_leave_one_whole_version(self, storage: Storage) -> None:
        versions = [bytes([i]) * 5000 for i in range(RIVALS)]
        _at_once(lambda i: storage.replace("a", versions[i], durable=False))
        assert storage.read("a") in versions
        assert storage.list("folder") == []

    def test_appends_lie_one_after_another_where_they_say(self, storage: Storage) -> None:
        file = storage.create("folder/growing")
        pieces: list[list[Bytes]] = [[b"first"], [b"", b"sec", bytearray(b"on"), memoryview(b"d")], [], [b"third"]]
        offsets = [file.append(part) for part in pieces]
        assert offsets == [0, 5, 11, 11]
        assert file.size == storage.size("folder/growing") == 16
        file.close()
        assert storage.read("folder/growing") == b"firstsecondthird"

    def test_thousands_of_pieces_are_one_append(self, storage: Storage) -> None:
        pieces = [b"%05d" % i for i in range(5000)]
        file = storage.create("a")
        file.append([b"x"])
        assert file.append(pieces) == 1
        file.close()
        assert storage.read("a", 1) == b"".join(pieces)

    def test_pieces_may_be_views_of_numbers(self, storage: Storage) -> None:
        numbers = memoryview(bytes(range(24))).cast("i")
        file = storage.create("a")
        file.append([numbers, b"end"])
        assert file.size == 27
        file.close()
        assert storage.read("a") == bytes(range(24)) + b"end"

    def test_what_is_appended_can_be_read_before_the_file_is_closed(self, storage: Storage) -> None:
        file = storage.create("a")
        file.append([b"one"])
        assert storage.read("a") == b"one"
        file.append([b"two"])
        assert storage.read("a", 3) == b"two"
        file.close()

    def test_a_growing_file_reads_as_a_prefix(self, storage: Storage) -> None:
        whole = random.Random(0).randbytes(200_000)
        file = storage.create("a")
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(lambda: [file.append([whole[i : i + 1000]]) for i in range(0, len(whole), 1000)])
            while not writing.done():
                seen = storage.read("a")
                assert seen == whole[: len(seen)]
            writing.result()
        file.close()
        assert storage.read("a") == whole

    @pytest.mark.parametrize(
        ("offset", "length", "expected"),
        [(0, 4, b"0123"), (4, None, b"456789"), (8, 5, b"89"), (10, None, b""), (25, 3, b""), (3, 0, b"")],
    )
    def test_a_part_is_what_is_there_of_it(
        self, storage: Storage, offset: int, length: int | None, expected: bytes
    ) -> None:
        storage.replace("a", b"0123456789")
        assert storage.read("a", offset, length) == expected

    def test_a_file_is_created_once(self, storage: Storage) -> None:
        storage.create("folder/a").close()
        with pytest.raises(FileExistsError):
            storage.create("folder/a")
        storage.create("folder/b").close()

    def test_of_many_that_create_a_file_at_once_one_gets_it(self, storage: Storage) -> None:
        made = [file for file in _at_once(lambda _: storage.create("folder/a")) if file is not None]
        assert len(made) == 1
        made[0].append([b"mine"])
        made[0].close()
        assert storage.read("folder/a") == b"mine"

    def test_an_exclusive_file_is_written_once_and_whole(self, storage: Storage) -> None:
        storage.replace("folder/a", b"first", exclusive=True)
        with pytest.raises(FileExistsError):
            storage.replace("folder/a", b"second", exclusive=True)
        assert storage.read("folder/a") == b"first"
        storage.replace("folder/a", b"third")
        assert storage.read("folder/a") == b"third"
        assert storage.list("folder") == ["a"]

    def test_of_many_that_write_an_exclusive_file_at_once_one_does(self, storage: Storage) -> None:
        versions = [bytes([i]) * 1000 for i in range(RIVALS)]

        def write(i: int) -> bytes:
            storage.replace("a", versions[i], exclusive=True)
            return versions[i]

        won = [version for version in _at_once(write) if version is not None]
        assert won == [storage.read("a")]

    def test_a_closed_file_takes_no_more(self, storage: Storage) -> None:
        file = storage.create("a")
        file.append([b"kept"])
        file.close()
        file.close()
        with pytest.raises(StorageError):
            file.append([b"lost"])
        assert storage.read("a") == b"kept"

    def test_missing_files_say_so(self, storage: Storage) -> None:
        for call in (storage.read, storage.size, storage.remove):
            with pytest.raises(FileNotFoundError):
                call("folder/missing")

    def test_a_list_has_the_files_of_one_folder_in_order(self, storage: Storage) -> None:
        for key in ("a/2", "a/10", "a/1", "a/b/3", "c", "ab/4"):
            storage.replace(key, b"")
        assert storage.list("a") == ["1", "10", "2"]
        assert storage.list("a/b") == ["3"]
        assert storage.list("missing") == storage.list("a/missing") == []

    def test_a_file_that_is_not_finished_is_listed_only_once(self, storage: Storage) -> None:
        file = storage.create("a/growing")
        file.append([b"x"])
        storage.replace("a/whole", b"x")
        assert storage.list("a") == ["growing", "whole"]
        file.close()

    def test_removing_takes_a_file_or_a_whole_folder(self, storage: Storage) -> None:
        for key in ("a/1", "a/b/2", "ab"):
            storage.replace(key, b"x")
        storage.remove("a/1")
        assert storage.list("a") == []
        storage.remove("a")
        assert storage.list("a/b") == []
        assert storage.read("ab") == b"x"

    @pytest.mark.parametrize("key", ["with space", "ünïcödé/名前", "-dash", "a..b", "a.b.c", "%2e%2e"])
    def test_unusual_names_are_names(self, storage: Storage, key: str) -> None:
        storage.replace(f"folder/{key}", b"x")
        assert storage.read(f"folder/{key}") == b"x"

    @pytest.mark.parametrize("key", LEAVING)
    def test_keys_that_would_leave_the_storage_are_refused(self, storage: Storage, key: str) -> None:
        calls: list[Callable[[str], object]] = [
            storage.create,
            lambda key: storage.replace(key, b"x"),
            storage.read,
            storage.size,
            storage.list,
            storage.remove,
        ]
        for call in calls:
            with pytest.raises(ConfigurationError, match="key"):
                call(key)


def _at_once(call: Callable[[int], Result]) -> list[Result | None]:
    """Make `RIVALS` calls at the same moment; None stands for one that found the file taken."""
    start = Barrier(RIVALS)

    def run(i: int) -> Result | None:
        start.wait()
        try:
            return call(i)
        except FileExistsError:
            return None

    with ThreadPoolExecutor(RIVALS) as pool:
        return list(pool.map(run, range(RIVALS)))
