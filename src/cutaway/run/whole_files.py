"""Large files of a run that are written piece by piece and appear whole: beside their place, then renamed."""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from cutaway.errors import StorageError
from cutaway.run.process import is_running, machine

__all__ = ["sweep", "sweep_dead", "whole_file"]

_BESIDE = re.compile(r"\..+\.(?P<machine>[0-9a-f]{8})-(?P<pid>\d{1,9})")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written there gets its name when the block ends without an error."""
    beside = path.with_name(f".{path.name}.{_this_machine()}-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        handle = os.open(beside, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        beside.replace(path)
    except StorageError:
        raise
    except OSError as error:
        message = f"Cannot write {path}: {error.strerror or error}."
        raise StorageError(message, path=path) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def sweep(folder: Path) -> None:
    """Remove what killed writers left beside their files; only for whoever alone writes in the folder."""
    with contextlib.suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name.startswith(".") and path.is_file():
                path.unlink()


def sweep_dead(folder: Path) -> None:
    """Remove what killed writers of this machine left beside their files; others may write in the folder meanwhile."""
    here = _this_machine()
    for path in folder.glob(".*"):
        found = _BESIDE.fullmatch(path.name)
        if found is not None and found["machine"] == here and not is_running(int(found["pid"])):
            with contextlib.suppress(OSError):
                path.unlink()


def _this_machine() -> str:
    return f"{zlib.crc32(machine().encode()):08x}"
