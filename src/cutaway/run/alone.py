"""Keeps others out who change a file of a run that several may change, so that of two changes at once none is lost."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from cutaway.errors import StorageError
from cutaway.run.identity import Run

__all__ = ["locked", "writing_alone"]

LOCK_SECONDS = 10.0


@contextlib.contextmanager
def writing_alone(run: Run) -> Iterator[None]:
    """Wait until no other process writes so in this run. Raises `StorageError` where one does for many seconds.

    The lock is on the run's folder: it leaves no file, and ends with its process.
    """
    with contextlib.ExitStack() as stack:
        try:
            alone = stack.enter_context(locked(run.path, LOCK_SECONDS))
        except OSError as error:
            raise StorageError(f"Cannot open {run.path}: {error.strerror or error}.", path=run.path) from error
        if not alone:
            message = f"Somebody else has been writing in run {run.name!r} for {LOCK_SECONDS:.0f} s."
            raise StorageError(message, hint="Try again.")
        yield


@contextlib.contextmanager
def locked(folder: Path, seconds: float) -> Iterator[bool]:
    """Lock a folder for a block; False where somebody else keeps it locked for so long."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield _lock(handle, seconds)
    finally:
        os.close(handle)


def _lock(handle: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        except OSError:
            # A file system without locks: files are still whole, and two who write in the same moment are rare.
            return True
        else:
            return True
