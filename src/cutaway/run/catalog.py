"""The runs under a folder: finding, listing, measuring and removing them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from cutaway.errors import ConfigurationError, RunError, RunLocked, RunNotFound
from cutaway.run.identity import Run, runs_folder
from cutaway.run.leases import RunState
from cutaway.run.schemas import SCHEMAS

__all__ = ["find_run", "list_runs", "prune_runs", "remove_run", "run_sizes"]


def list_runs(root: Path | str | None = None) -> list[Run]:
    """Return the runs directly in a folder, newest first."""
    folder = Path(root) if root is not None else runs_folder()
    return sorted(_runs_in(folder), key=lambda run: (str(run.identity.get("created", "")), run.name), reverse=True)


def find_run(text: str, root: Path | str | None = None) -> Run:
    """Return the run at a path, or the one whose name is, or alone begins with, the given text."""
    if (Path(text).expanduser() / "run.json").exists():
        return Run.open(text)
    folder = Path(root) if root is not None else runs_folder()
    names = _names(folder)
    matches = [name for name in names if name == text] or [name for name in names if name.startswith(text)]
    if len(matches) > 1:
        message = f"{text!r} could be {', '.join(map(repr, sorted(matches)[:5]))}. Write more of the name."
        raise ConfigurationError(message)
    if not matches:
        raise RunNotFound(text, str(folder), names)
    return Run.open(folder / matches[0])


def run_sizes(run: Run) -> dict[str, int]:
    """Return the bytes of each part of a run folder, the largest first."""
    sizes: dict[str, int] = {}
    tables = sorted(SCHEMAS, key=len, reverse=True)
    for folder, _, files in os.walk(run.path):
        inside = Path(folder).relative_to(run.path).as_posix()
        part = next((table for table in tables if inside == table), inside.split("/")[0])
        for name in files:
            key = part if part != "." else "documents"
            sizes[key] = sizes.get(key, 0) + (Path(folder) / name).lstat().st_size
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def remove_run(run: Run) -> None:
    """Delete a run folder. Raises `RunLocked` while it is being written."""
    if run.state() is RunState.RUNNING:
        raise RunLocked(str(run.path), "train", "a live worker", "a running training")
    shutil.rmtree(run.path)


def prune_runs(root: Path | str | None = None, *, keep: int) -> list[Run]:
    """Delete all but the newest `keep` runs of a folder, never one that is being written; return what was deleted."""
    if keep < 0:
        message = f"`keep >= 0` must hold, but got {keep=}."
        raise ConfigurationError(message)
    pruned = [run for run in list_runs(root)[keep:] if run.state() is not RunState.RUNNING]
    for run in pruned:
        shutil.rmtree(run.path)
    return pruned


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if (Path(entry.path) / "run.json").exists()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _runs_in(folder: Path) -> Iterator[Run]:
    for name in _names(folder):
        try:
            yield Run.open(folder / name)
        except RunError:
            # A run of a newer format, or one that was deleted a moment ago: it cannot be listed by this release.
            continue
