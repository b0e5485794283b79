"""What tells a file from what lay at its place before: for whoever keeps what it read of one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["FileStamp", "stamp_of"]


class FileStamp(NamedTuple):
    """When a file was written, how large it is, and which one it is: what changes when the file does."""

    written: int
    size: int
    number: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Return a file's stamp. Raises OSError where there is none."""
        there = path.stat()
        return cls(there.st_mtime_ns, there.st_size, there.st_ino)


def stamp_of(path: Path | None) -> FileStamp | None:
    """Return a file's stamp; None where there is no file."""
    try:
        return None if path is None else FileStamp.of(path)
    except OSError:
        return None
