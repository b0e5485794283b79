"""Removes the scratch folder of a model's process, whatever that left there. Only for when the process is gone."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

__all__ = ["remove_scratch"]


def remove_scratch(folder: Path) -> None:
    """Remove a folder and all that is in it; what the system does not let go of stays.

    Folders within folders are brought up one level at a time: thousands of them, one in the other, are more than a
    path or Python's stack can hold. Rights that somebody took away are given back.
    """
    while sum(_taken(entry, folder) for entry in _entries(folder)):
        pass
    with contextlib.suppress(OSError):
        folder.rmdir()


def _taken(entry: os.DirEntry[str], folder: Path) -> bool:
    """Remove one entry, or bring up what is in it; whether anything changed."""
    try:
        if not entry.is_dir(follow_symlinks=False):
            Path(entry.path).unlink()
            return True
        Path(entry.path).chmod(0o700)
        for inner in _entries(Path(entry.path)):
            if inner.is_dir(follow_symlinks=False):
                # A folder of which one may not write cannot be moved: the way up is written in it.
                Path(inner.path).chmod(0o700)
            Path(inner.path).rename(folder / uuid.uuid4().hex)
        Path(entry.path).rmdir()
    except OSError:
        return False
    return True


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return list(listed)
    except OSError:
        return []
