"""Where a run's bytes lie: the storage protocol, and its implementation on a local folder.

Knows nothing of runs, tables or documents: keys are relative, slash-separated names, values are bytes.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from cutaway.errors import ConfigurationError, StorageError

__all__ = ["Appender", "LocalStorage", "Storage"]

# Linux refuses more pieces than this in one gathered write.
MOST_PIECES = 1024

Bytes = bytes | bytearray | memoryview


class Appender(Protocol):
    """A file that only grows, held open by its one writer."""

    size: int

    def append(self, pieces: Sequence[Bytes]) -> int:
        """Write all pieces after what is there, in one call where the system can, and return their offset.

        After a short or failed write it raises `StorageError`; the caller leaves this file as it is.
        """

    def close(self) -> None:
        """Release the file; closing twice is allowed."""


class Storage(Protocol):
    """What a run needs of a place for bytes.

    - `create` and `replace` make missing folders.
    - `create` is exclusive: of two writers exactly one gets the file, the other `FileExistsError`.
    - `replace` is whole: a reader sees the old bytes or the new ones, never a part, also after a kill.
    - `read` of a file that grows returns a prefix of what its writer appended, never other bytes.
    - Missing keys raise `FileNotFoundError`; `list` of a missing folder is empty.
    - Keys never leave the storage: absolute keys and `..` raise `ConfigurationError`.
    """

    def create(self, key: str) -> Appender:
        """Make a new file and hold it open for appending."""

    def replace(self, key: str, data: bytes, *, durable: bool = True) -> None:
        """Write a whole file; `durable` also waits until it would survive a power cut."""

    def read(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """Read a file, or the part of it that is there."""

    def size(self, key: str) -> int:
        """Return how many bytes a file has now."""

    def list(self, folder: str) -> list[str]:
        """Return the sorted names of the files directly in a folder."""

    def remove(self, key: str) -> None:
        """Delete a file, or a folder with all that it holds."""


class LocalAppender:
    """An append-only file of the local file system."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._handle: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)

    def append(self, pieces: Sequence[Bytes]) -> int:
        """Write the pieces with one system call for each `MOST_PIECES` of them."""
        offset = self.size
        if self._handle is None:
            message = f"Cannot append to {self.path}: it is closed."
            raise StorageError(message)
        for start in range(0, len(pieces), MOST_PIECES):
            part = pieces[start : start + MOST_PIECES]
            wanted = sum(len(piece) for piece in part)
            try:
                written = os.writev(self._handle, part)
            except OSError as error:
                message = f"Cannot write {wanted} bytes to {self.path}: {error.strerror or error}."
                raise StorageError(message) from error
            self.size += written
            if written != wanted:
                message = f"Only {written} of {wanted} bytes fitted into {self.path}."
                raise StorageError(message)
        return offset

    def close(self) -> None:
        """Close the file once."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class LocalStorage:
    """A storage in a folder of the local (or a mounted) file system."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    def __repr__(self) -> str:
        return f"LocalStorage({str(self.root)!r})"

    def path(self, key: str) -> Path:
        """Return the file behind a key, refusing keys that would leave the folder."""
        if not key or key.startswith("/") or "\\" in key or ".." in key.split("/"):
            message = f"`key` must be a relative name without '..', but got {key!r}."
            raise ConfigurationError(message)
        return self.root / key

    def create(self, key: str) -> LocalAppender:
        """Make a new file exclusively."""
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        return LocalAppender(path)

    def replace(self, key: str, data: bytes, *, durable: bool = True) -> None:
        """Write beside the file and rename over it."""
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        # The process id keeps two processes that replace one document from sharing the file beside it.
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with beside.open("wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                beside.unlink()
            message = f"Cannot write {path}: {error.strerror or error}."
            raise StorageError(message) from error

    def read(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """Read with `pread`, so that a file which grows meanwhile is read as a prefix."""
        handle = os.open(self.path(key), os.O_RDONLY)
        try:
            if length is None:
                length = max(os.fstat(handle).st_size - offset, 0)
            return _read_fully(handle, offset, length)
        finally:
            os.close(handle)

    def size(self, key: str) -> int:
        """Return the size of a file in bytes."""
        return self.path(key).stat().st_size

    def list(self, folder: str) -> list[str]:
        """List a folder; files being replaced at this moment start with a dot and are left out."""
        try:
            with os.scandir(self.path(folder)) as entries:
                return sorted(e.name for e in entries if not e.name.startswith(".") and e.is_file())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, key: str) -> None:
        """Delete a file or a folder."""
        path = self.path(key)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def map(self, key: str) -> memoryview:
        """Map a file that no longer grows; local only, so not part of the protocol."""
        with self.path(key).open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _read_fully(handle: int, offset: int, length: int) -> bytes:
    """Read until `length` bytes or the end: one `pread` may return fewer."""
    data = os.pread(handle, length, offset)
    while len(data) < length:
        more = os.pread(handle, length - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data
