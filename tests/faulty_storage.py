"""A storage whose n-th write fails: for tests of what a full or broken disk does to whoever writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from cutaway.errors import StorageError
from cutaway.run.storage import Appender, Bytes, Storage

__all__ = ["Fault", "FaultyStorage"]


@dataclass(frozen=True)
class Fault:
    """Which call fails, counting appends, creations and replacements together from 1, and how.

    `written` is the share of an append's bytes that reach the file before it fails; with 1.0 all do, and the call still
    says that it failed. `lasting` makes all later calls fail too.
    """

    call: int
    error: int
    written: float = 0.0
    lasting: bool = False


class FaultyStorage:
    """Passes everything on to another storage, but fails where it is told to.

    `calls` counts what was attempted, so a run without a fault says how many places there are to fail at.
    """

    def __init__(self, inner: Storage, fault: Fault | None = None) -> None:
        self._inner = inner
        self.fault = fault
        self.calls = 0
        self.failures = 0

    def heal(self) -> None:
        """Let everything succeed from now on."""
        self.fault = None

    def create(self, key: str) -> Appender:
        """Make a new file, or fail before it is made."""
        self.fail_if_due(key)
        return _FaultyAppender(self, key, self._inner.create(key))

    def replace(self, key: str, data: bytes, *, durable: bool = True, exclusive: bool = False) -> None:
        """Replace a file, or fail and leave what was there."""
        self.fail_if_due(key)
        self._inner.replace(key, data, durable=durable, exclusive=exclusive)

    def read(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """Read; never fails on purpose."""
        return self._inner.read(key, offset, length)

    def size(self, key: str) -> int:
        """Return the size of a file."""
        return self._inner.size(key)

    def list(self, folder: str) -> list[str]:
        """List a folder."""
        return self._inner.list(folder)

    def remove(self, key: str) -> None:
        """Remove a file or folder."""
        self._inner.remove(key)

    def due(self) -> Fault | None:
        """Count one call, and return the fault that it meets."""
        self.calls += 1
        fault = self.fault
        if fault is None or self.calls < fault.call or (self.calls > fault.call and not fault.lasting):
            return None
        self.failures += 1
        return fault

    def fail_if_due(self, key: str) -> None:
        """Count one call, and raise where it is to fail."""
        fault = self.due()
        if fault is not None:
            raise _error(fault, key)


class _FaultyAppender:
    """An open file of a faulty storage."""

    def __init__(self, storage: FaultyStorage, key: str, inner: Appender) -> None:
        self._storage = storage
        self._key = key
        self._inner = inner

    @property
    def size(self) -> int:
        return self._inner.size

    def append(self, pieces: Sequence[Bytes]) -> int:
        fault = self._storage.due()
        if fault is None:
            return self._inner.append(pieces)
        data = b"".join(pieces)
        self._inner.append([data[: int(len(data) * fault.written)]])
        raise _error(fault, self._key)

    def close(self) -> None:
        self._inner.close()


def _error(fault: Fault, key: str) -> StorageError:
    # As a real storage does it: our own error, with the system's as its cause.
    error = StorageError(f"Cannot write {key}: {os.strerror(fault.error)}.")
    error.__cause__ = OSError(fault.error, os.strerror(fault.error))
    return error
