"""Where a run's bytes lie: the storage protocol, and its implementation on a local folder.

Knows nothing of runs, tables or documents: keys are relative, slash-separated names, values are bytes.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import shutil
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from cutaway.errors import ConfigurationError, StorageError

__all__ = ["Appender", "LocalFile", "LocalStorage", "Storage", "UnmappedStorage"]

# Linux refuses more pieces than this in one gathered write, and takes at most 2 GB; macOS refuses more than that.
MOST_PIECES = 1024
MOST_BYTES = 1 << 30

# What file systems answer that cannot link, or cannot sync a folder. Other errors are real ones.
_NOT_SUPPORTED = frozenset((errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP))

# A pipe in the place of a file, which somebody else's run may have, is an empty file and nothing to wait for.
_READING = os.O_RDONLY | os.O_NONBLOCK

Bytes = bytes | bytearray | memoryview


class Appender(Protocol):
    """A file that only grows, held open by its one writer."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    def append(self, pieces: Sequence[Bytes]) -> int:
        """Write all pieces after what is there, in one call where the system can, and return their offset.

        Where not all of them can be written it raises `StorageError`, and some of their bytes may be there; the caller
        leaves this file as it is.
        """

    def close(self) -> None:
        """Release the file; closing twice is allowed."""


class Storage(Protocol):
    """What a run needs of a place for bytes.

    - `create` and `replace` make missing folders.
    - `create` is exclusive: of two writers exactly one gets the file, the other `FileExistsError`. So is `replace`
      with `exclusive`, and the file appears whole.
    - `replace` is whole: a reader sees the old bytes or the new ones, never a part, also after a kill.
    - What cannot be written raises `StorageError`, and what was there stays.
    - `read` of a file that grows returns a prefix of what its writer appended, never other bytes.
    - Missing keys raise `FileNotFoundError`; `list` of a missing folder is empty.
    - Keys never leave the storage: absolute keys and parts that are empty or begin with a dot raise
      `ConfigurationError`.
    """

    def create(self, key: str) -> Appender:
        """Make a new file and hold it open for appending."""

    def replace(self, key: str, data: bytes, *, durable: bool = True, exclusive: bool = False) -> None:
        """Write a whole file; `durable` also waits until it would survive a power cut.

        With `exclusive` it raises `FileExistsError` where there is one.
        """

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
        """Write the pieces with one system call, or one for each `MOST_PIECES` or `MOST_BYTES` of them."""
        offset = self.size
        if self._handle is None:
            message = f"Cannot append to {self.path}: it is closed."
            raise StorageError(message, path=self.path)
        wanted = sum(memoryview(piece).nbytes for piece in pieces)
        if len(pieces) <= MOST_PIECES and wanted <= MOST_BYTES:
            self._write(self._handle, pieces, wanted)
        else:
            for portion in _portions(pieces):
                self._write(self._handle, portion, sum(map(len, portion)))
        return offset

    def _write(self, handle: int, pieces: Sequence[Bytes], wanted: int) -> None:
        while wanted:
            try:
                written = os.writev(handle, pieces)
            except OSError as error:
                message = f"Cannot write {wanted} bytes to {self.path}: {error.strerror or error}."
                raise StorageError(message, path=self.path) from error
            if not written:
                message = f"Cannot write {wanted} bytes to {self.path}: the system took none of them."
                raise StorageError(message, path=self.path)
            self.size += written
            wanted -= written
            # A signal, or a disk that is almost full: writing the rest succeeds, or says what is wrong.
            if wanted:
                pieces = _rest(pieces, written)

    def close(self) -> None:
        """Close the file once."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class LocalFile:
    """A file of the local file system, held open for reading until nobody needs it any more."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, _READING)
        weakref.finalize(self, os.close, self.descriptor)


class UnmappedStorage:
    """A storage in a folder of the local (or a mounted) file system, whose files are read and never mapped.

    For those who look at many runs of others for a long time: a mapped file that somebody cuts short, or copies over,
    ends the whole process.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.root)!r})"

    def path(self, key: str) -> Path:
        """Return the file behind a key, refusing keys that would leave the folder."""
        parts = key.split("/")
        if not all(parts) or any(part.startswith(".") for part in parts) or "\\" in key or "\0" in key:
            message = f"`key` must be a relative name whose parts do not begin with a dot, but got {key!r}."
            raise ConfigurationError(message)
        return self.root.joinpath(*parts)

    def create(self, key: str) -> LocalAppender:
        """Make a new file exclusively."""
        path = self.path(key)
        self._make_folder(path)
        try:
            return LocalAppender(path)
        except FileExistsError:
            raise
        except OSError as error:
            message = f"Cannot create {path}: {error.strerror or error}."
            raise StorageError(message, path=path) from error

    def replace(self, key: str, data: bytes, *, durable: bool = True, exclusive: bool = False) -> None:
        """Write beside the file, and rename over it (or link to it where it must be new)."""
        path = self.path(key)
        self._make_folder(path)
        # Process and thread keep two that replace one document from sharing the file beside it.
        beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            with beside.open("wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            if exclusive:
                _link(beside, path)
            else:
                beside.replace(path)
            if durable:
                self._sync_folders(path)
        except FileExistsError:
            raise
        except OSError as error:
            message = f"Cannot write {path}: {error.strerror or error}."
            raise StorageError(message, path=path) from error
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()

    def read(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """Read with `pread`, so that a file which grows meanwhile is read as a prefix."""
        handle = os.open(self.path(key), _READING)
        try:
            if length is None:
                length = max(os.fstat(handle).st_size - offset, 0)
            return _read_fully(handle, offset, length) if length else b""
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

    def open(self, key: str) -> LocalFile:
        """Open a file for reading many small pieces; local only, so not part of the protocol."""
        return LocalFile(self.path(key))

    def _make_folder(self, path: Path) -> None:
        """Make the folders of a key, but never the root: a run that was deleted must not come back as a ghost."""
        if path.parent.is_dir():
            return
        if not self.root.is_dir():
            message = f"Cannot write {path}: the folder {self.root} is gone."
            raise StorageError(message, path=path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"Cannot make the folder {path.parent}: {error.strerror or error}."
            raise StorageError(message) from error

    def _sync_folders(self, path: Path) -> None:
        """Make the names durable too, up to that of the root itself: a synced file without a name is lost."""
        for folder in path.parents:
            try:
                handle = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            except OSError as error:
                if error.errno not in _NOT_SUPPORTED:
                    raise
            if folder == self.root.parent:
                return


class LocalStorage(UnmappedStorage):
    """The same, with complete files in place: nothing is copied that nobody asks for."""

    def map(self, key: str) -> memoryview:
        """Map a file that no longer grows; local only, so not part of the protocol."""
        with open(os.open(self.path(key), _READING), "rb") as file:  # noqa: PTH123 - a descriptor
            if not os.fstat(file.fileno()).st_size:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _link(beside: Path, path: Path) -> None:
    """Give a finished file its name, unless the name is taken."""
    try:
        path.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
        # A file system without links: still exclusive, but for a moment the file is there and empty.
        with path.open("xb") as file:
            file.write(beside.read_bytes())


def _portions(pieces: Sequence[Bytes]) -> Iterator[list[memoryview]]:
    """Cut a large write into what one system call takes."""
    portion, size = list[memoryview](), 0
    for piece in pieces:
        view = memoryview(piece)
        if not view.nbytes:
            continue
        view = view.cast("B")
        for start in range(0, len(view), MOST_BYTES):
            part = view[start : start + MOST_BYTES]
            if len(portion) == MOST_PIECES or size + len(part) > MOST_BYTES:
                yield portion
                portion, size = [], 0
            portion.append(part)
            size += len(part)
    if portion:
        yield portion


def _rest(pieces: Sequence[Bytes], written: int) -> list[memoryview]:
    """Return what remains of the pieces after their first `written` bytes."""
    rest = []
    for piece in pieces:
        view = memoryview(piece)
        if view.nbytes > written:
            rest.append(view.cast("B")[written:])
        written = max(written - view.nbytes, 0)
    return rest


def _read_fully(handle: int, offset: int, length: int) -> bytes:
    """Read until `length` bytes or the end: one `pread` may return fewer."""
    data = os.pread(handle, length, offset)
    while len(data) < length:
        more = os.pread(handle, length - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data
