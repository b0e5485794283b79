"""Keeps others out who change a file of a run that several may change, so that of two changes at once none is lost."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from cutaway.errors import StorageError
from cutaway.run.identity import Run

__all__ = ["writing_alone"]

LOCK_SECONDS = 10.0


@contextlib.contextmanager
def writing_alone(run: Run) -> Iterator[None]:
    """Wait until no other process writes so in this run. Raises `StorageError` where one does for many seconds.

    The lock is on the run's folder: it leaves no file, and ends with its process.
    """
    try:
        handle = os.open(run.path, os.O_RDONLY)
    except OSError as error:
        raise StorageError(f"Cannot open {run.path}: {error.strerror or error}.") from error
    try:
        _lock(handle, run)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, run: Run) -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                message = f"Somebody else has been writing in run {run.name!r} for {LOCK_SECONDS:.0f} s. Try again."
                raise StorageError(message) from None
            time.sleep(0.01)
        except OSError:
            # A file system without locks: files are still whole, and two who write in the same moment are rare.
            return
        else:
            return
