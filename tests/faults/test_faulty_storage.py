"""The storage that fails on purpose fails exactly where it was told to."""

from __future__ import annotations

import errno

import pytest

from cutaway.errors import StorageError
from tests.faulty_storage import Fault, FaultyStorage
from tests.memory_storage import MemoryStorage


def _calls(storage: FaultyStorage, count: int = 5) -> list[bool]:
    """Replace a file several times, and say which of them succeeded."""
    done = []
    for i in range(count):
        try:
            storage.replace("a", b"%d" % i)
        except StorageError:
            done.append(False)
        else:
            done.append(True)
    return done


def test_without_a_fault_it_only_counts() -> None:
    storage = FaultyStorage(MemoryStorage())
    assert _calls(storage) == [True] * 5
    assert (storage.calls, storage.failures) == (5, 0)


def test_one_call_fails_and_leaves_what_was_there() -> None:
    storage = FaultyStorage(MemoryStorage(), Fault(5, errno.EIO))
    assert _calls(storage) == [True, True, True, True, False]
    assert storage.read("a") == b"3"


def test_a_lasting_fault_lasts_until_it_is_healed() -> None:
    storage = FaultyStorage(MemoryStorage(), Fault(2, errno.ENOSPC, lasting=True))
    assert _calls(storage) == [True, False, False, False, False]
    storage.heal()
    assert _calls(storage) == [True] * 5
    assert storage.failures == 4


@pytest.mark.parametrize(("share", "there"), [(0.0, b"first"), (0.5, b"firstsec"), (1.0, b"firstsecond")])
def test_part_of_an_append_may_get_through(share: float, there: bytes) -> None:
    storage = FaultyStorage(MemoryStorage(), Fault(3, errno.ENOSPC, written=share))
    file = storage.create("a")
    file.append([b"first"])
    with pytest.raises(StorageError, match="No space left"):
        file.append([b"sec", b"ond"])
    assert storage.read("a") == there
    assert file.size == len(there)


def test_a_creation_that_fails_makes_no_file() -> None:
    storage = FaultyStorage(MemoryStorage(), Fault(1, errno.EROFS))
    with pytest.raises(StorageError, match="Read-only"):
        storage.create("folder/a")
    assert storage.list("folder") == []
