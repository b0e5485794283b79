"""Looks at the files of a SavedModel folder before TensorFlow does: plain files and folders, nothing that leads out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from cutaway.errors import ModelFormatError, UnsafeModel

__all__ = ["GRAPH", "LONGEST_GRAPH", "check_folder", "read_graph", "variable_bytes"]

GRAPH = "saved_model.pb"
# Protocol buffers end at 2 GB; graphs without their variables have some MB.
LONGEST_GRAPH = 1024 * 1024 * 1024
MOST_FILES = 10_000
DEEPEST = 16


def check_folder(folder: Path) -> None:
    """Raise `UnsafeModel` where anything in the folder is neither a file nor a folder, or is too much."""
    for count, (entry, depth) in enumerate(_entries(folder)):
        name = os.path.relpath(entry.path, folder)
        if count >= MOST_FILES or depth > DEEPEST:
            raise UnsafeModel(str(folder), f"the folder has more than {MOST_FILES:,} files, or {DEEPEST} levels.")
        kind = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind):
            raise UnsafeModel(str(folder), f"{name!r} is a symbolic link, to {str(Path(entry.path).readlink())!r}.")
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise UnsafeModel(str(folder), f"{name!r} is neither a file nor a folder.")
    if not (folder / GRAPH).is_file():
        raise ModelFormatError(str(folder), f"it has no {GRAPH}; `model.export(folder)` writes one.")


def read_graph(folder: Path) -> bytes:
    """Return the bytes of the graph, which are bounded."""
    with (folder / GRAPH).open("rb") as file:
        content = file.read(LONGEST_GRAPH + 1)
    if len(content) > LONGEST_GRAPH:
        raise UnsafeModel(str(folder), f"its {GRAPH} is longer than {LONGEST_GRAPH:,} bytes.")
    return content


def variable_bytes(folder: Path) -> int:
    """Return how many bytes the files of the variables have."""
    return sum(file.stat().st_size for file in (folder / "variables").glob("variables.data-*"))


def _entries(folder: Path, depth: int = 0) -> Iterator[tuple[os.DirEntry[str], int]]:
    with os.scandir(folder) as listed:
        for entry in listed:
            yield entry, depth
            if depth <= DEEPEST and entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path), depth + 1)
