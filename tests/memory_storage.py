"""A storage in memory: for tests, and as the smallest example of the protocol."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cutaway.errors import ConfigurationError, StorageError
from cutaway.run.storage import Bytes

__all__ = ["MemoryAppender", "MemoryStorage"]


class MemoryStorage:
    """Keeps files in a dictionary. Obeys the storage's contract within one process.

    >>> storage = MemoryStorage()
    >>> storage.replace("notes/a.txt", b"hello")
    >>> storage.list("notes"), storage.read("notes/a.txt", 1, 3)
    (['a.txt'], b'ell')
    """

    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}
        self._lock = threading.Lock()

    def create(self, key: str) -> MemoryAppender:
        """Make a new file exclusively."""
        return MemoryAppender(key, self._put(key, b"", exclusive=True), self._lock)

    def replace(self, key: str, data: bytes, *, durable: bool = True, exclusive: bool = False) -> None:
        """Write a whole file; nothing in memory is durable."""
        self._put(key, data, exclusive=exclusive)

    def read(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """Read a file, or the part of it that is there."""
        with self._lock:
            return bytes(self._file(key)[offset : None if length is None else offset + length])

    def size(self, key: str) -> int:
        """Return the size of a file."""
        return len(self._file(key))

    def list(self, folder: str) -> list[str]:
        """Return the sorted names of the files directly in a folder."""
        prefix = f"{_checked_key(folder)}/"
        with self._lock:
            inside = [key.removeprefix(prefix) for key in self.files if key.startswith(prefix)]
        return sorted(name for name in inside if "/" not in name)

    def remove(self, key: str) -> None:
        """Delete a file, or all that begin with its name as a folder."""
        _checked_key(key)
        with self._lock:
            doomed = [other for other in self.files if other == key or other.startswith(f"{key}/")]
            for other in doomed:
                del self.files[other]
        if not doomed:
            raise FileNotFoundError(key)

    def _put(self, key: str, data: bytes, *, exclusive: bool) -> bytearray:
        _checked_key(key)
        with self._lock:
            if exclusive and key in self.files:
                raise FileExistsError(key)
            file = self.files[key] = bytearray(data)
        return file

    def _file(self, key: str) -> bytearray:
        try:
            return self.files[_checked_key(key)]
        except KeyError:
            raise FileNotFoundError(key) from None


class MemoryAppender:
    """An append-only file in memory."""

    def __init__(self, key: str, file: bytearray, lock: threading.Lock) -> None:
        self._key = key
        self._file: bytearray | None = file
        self._lock = lock
        self.size = 0

    def append(self, pieces: Sequence[Bytes]) -> int:
        """Write all pieces at once."""
        if self._file is None:
            message = f"Cannot append to {self._key}: it is closed."
            raise StorageError(message)
        offset = self.size
        with self._lock:
            for piece in pieces:
                self._file += piece
            self.size = len(self._file)
        return offset

    def close(self) -> None:
        """Release the file."""
        self._file = None


def _checked_key(key: str) -> str:
    if any(not part or part.startswith(".") for part in key.split("/")) or "\\" in key or "\0" in key:
        message = f"`key` must be a relative name whose parts do not begin with a dot, but got {key!r}."
        raise ConfigurationError(message)
    return key
