"""When a run is read again: what tells, for the price of a few calls, that something of it has changed. Opens no run."""

from __future__ import annotations

import os
import time

__all__ = ["Mark", "is_settled", "mark_of", "quick_mark"]

Mark = tuple[int, ...]
# Within one tick of a file system's clock a folder may change twice and show one time.
_TICK_SECONDS = 0.1


def quick_mark(path: str) -> tuple[int, int]:
    """Return the times of a run folder and of its leases.

    Every document is replaced by renaming, which changes its folder; and everybody who adds to a run claims a lease.
    """
    # Twice for each of many thousand runs: pathlib would cost more than the calls.
    try:
        folder = os.stat(path).st_mtime_ns
    except OSError:
        return (-1, -1)
    try:
        return (folder, os.stat(f"{path}/leases").st_mtime_ns)
    except OSError:
        return (folder, 0)


def mark_of(path: str) -> Mark:
    """Return the quick mark, and what tells of settings that were edited in place and rows of those without a lease."""
    return (*quick_mark(path), *_file(f"{path}/config.yaml"), _folder(f"{path}/scalars"), _folder(f"{path}/findings"))


def is_settled(mark: Mark) -> bool:
    """Whether what was read after taking a mark cannot have changed without changing the mark."""
    now = time.time()
    return all(abs(now - part / 1e9) > _TICK_SECONDS for part in mark[:2])


def _file(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _folder(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
