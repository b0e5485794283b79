"""When a run is read again: what tells, for the price of a few calls, that it has changed. Opens no run."""

from __future__ import annotations

import os
import time

from cutaway.run.layout import CONFIG_FILE, LEASES
from cutaway.run.schemas import FINDINGS, SCALARS

__all__ = ["Mark", "changed", "file_mark", "is_settled", "is_there", "mark_of", "quick_mark", "size_of", "time_of"]

Mark = tuple[int, ...]
# Within one tick of a file system's clock a folder may change twice and show one time.
_TICK_SECONDS = 0.1


def quick_mark(path: str) -> Mark:
    """Return the times of a run folder and of its leases.

    Every document is replaced by renaming, which changes its folder; and everybody who adds to a run claims a lease.
    """
    return (time_of(path), time_of(f"{path}/{LEASES}"))


def mark_of(path: str) -> Mark:
    """Return the quick mark, and what tells of settings that were edited in place and rows of those without a lease."""
    config = f"{path}/{CONFIG_FILE}"
    return (
        *quick_mark(path),
        time_of(config),
        size_of(config),
        time_of(f"{path}/{SCALARS}"),
        time_of(f"{path}/{FINDINGS}"),
    )


def file_mark(path: str) -> Mark:
    """Return what changes when a file does; nothing where there is none."""
    found = _stat(path)
    return () if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)


def is_settled(mark: Mark) -> bool:
    """Whether what was read after taking a mark cannot have changed without changing the mark."""
    now = time.time()
    return all(abs(now - part / 1e9) > _TICK_SECONDS for part in mark[:2])


def changed(path: str) -> float | None:
    """Return when a file or folder was changed last; None where it is not there, or may not be looked at."""
    found = _stat(path)
    return None if found is None else found.st_mtime


def is_there(path: str) -> bool:
    """Whether there is anything at a path."""
    return _stat(path) is not None


def size_of(path: str) -> int:
    """Return the size of a file; 0 where there is none."""
    found = _stat(path)
    return 0 if found is None else found.st_size


def time_of(path: str) -> int:
    """Return when a file or folder was changed last, as exactly as the system knows; 0 where it is not there."""
    found = _stat(path)
    return 0 if found is None else found.st_mtime_ns


def _stat(path: str) -> os.stat_result | None:
    # Several for each of many thousand runs: pathlib would cost more than the call.
    try:
        return os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
