"""Every storage of ours obeys the contract that we ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.run.storage import LocalStorage
from cutaway.testing.storage import StorageContract
from tests.faulty_storage import FaultyStorage
from tests.memory_storage import MemoryStorage


class TestLocalStorage(StorageContract):
    @pytest.fixture
    def storage(self, tmp_path: Path) -> LocalStorage:
        return LocalStorage(tmp_path)


class TestMemoryStorage(StorageContract):
    @pytest.fixture
    def storage(self) -> MemoryStorage:
        return MemoryStorage()


class TestStorageWithoutAFault(StorageContract):
    @pytest.fixture
    def storage(self, tmp_path: Path) -> FaultyStorage:
        return FaultyStorage(LocalStorage(tmp_path))
