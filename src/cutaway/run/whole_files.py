"""Large files of a run that are written piece by piece and appear whole: beside their place, then renamed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from cutaway.errors import StorageError

__all__ = ["sweep", "whole_file"]


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written there gets its name when the block ends without an error."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
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
        raise StorageError(message) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def sweep(folder: Path) -> None:
    """Remove what killed writers left beside their files; only for whoever alone writes in the folder."""
    with contextlib.suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name.startswith(".") and path.is_file():
                path.unlink()
