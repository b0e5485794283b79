"""The runs under a folder: finding, listing, measuring and removing them."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cutaway.errors import ConfigurationError, RunError, RunLocked, RunNotFound
from cutaway.run.identity import Run, runs_folder
from cutaway.run.layout import LAYOUT, RUN_FILE, is_run
from cutaway.run.leases import RunState, training_states
from cutaway.run.schemas import SCHEMAS

__all__ = ["find_run", "list_runs", "prune_runs", "remove_run", "run_sizes"]

# A document that was being replaced when its writer died lies beside as `.run.json.<pid>`.
LAYOUT_STEMS = frozenset(name.split(".")[0] for name in LAYOUT)


def list_runs(root: Path | str | None = None) -> list[Run]:
    """Return the runs directly in a folder, newest first."""
    folder = Path(root) if root is not None else runs_folder()
    return sorted(_runs_in(folder), key=lambda run: (_created(run), run.name), reverse=True)


def run_states(runs: Sequence[Run]) -> list[RunState]:
    """Return the state of each run; those on other machines are waited for together."""
    found = training_states(run.storage for run in runs)
    return [state or run.state() for run, state in zip(runs, found, strict=True)]


def find_run(text: str, root: Path | str | None = None) -> Run:
    """Return the run at a path, or the one whose name is, or alone begins with, the given text."""
    folder = Path(root) if root is not None else runs_folder()
    if not text:
        # It begins every name: an unset variable in a script must not stand for a run.
        raise RunNotFound(text, str(folder))
    if is_run(Path(text).expanduser()):
        return Run.open(text)
    names = _names_of_runs(folder)
    matches = [name for name in names if name == text] or [name for name in names if name.startswith(text)]
    if len(matches) > 1:
        message = f"{text!r} could be {', '.join(map(repr, sorted(matches)[:5]))}."
        raise ConfigurationError(message, hint="Write more of the name.")
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
            # A file that is gone was being replaced by the writer of a live run.
            with contextlib.suppress(FileNotFoundError):
                sizes[key] = sizes.get(key, 0) + (Path(folder) / name).lstat().st_size
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def remove_run(run: Run) -> None:
    """Delete a run folder. Raises `RunLocked` while it is being written."""
    if not run.state().has_ended:
        raise RunLocked(str(run.path), "train", "a live worker", "a running training")
    _delete(run)


def prune_runs(root: Path | str | None = None, *, keep: int) -> list[Run]:
    """Delete all but the newest `keep` runs of a folder, never one that is being written; return what was deleted."""
    if keep < 0:
        message = f"`keep >= 0` must hold, but got {keep=}."
        raise ConfigurationError(message)
    old = list_runs(root)[keep:]
    pruned = [run for run, state in zip(old, run_states(old), strict=True) if state.has_ended]
    for run in pruned:
        _delete(run)
    return pruned


def _delete(run: Run) -> None:
    """Delete a run folder, `run.json` last: where that is interrupted, the run is still listed and can be removed.

    A folder that holds more than a run (`out_dir="."` makes one of a whole project) is left alone.
    """
    foreign = sorted(entry.name for entry in run.path.iterdir() if not _is_ours(entry.name))
    if foreign:
        message = f"{str(run.path)!r} holds more than a run ({', '.join(foreign[:3])}), so it is not deleted."
        raise ConfigurationError(
            message,
            hint="Move those files away, or delete the run's own by hand: run.json, trace, scalars, values, leases.",
            path=run.path,
        )
    for entry in run.path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != RUN_FILE:
            entry.unlink()
    shutil.rmtree(run.path)


def _is_ours(name: str) -> bool:
    return name in LAYOUT or (name.startswith(".") and name.split(".")[1] in LAYOUT_STEMS)


def _created(run: Run) -> str:
    """When a run was made. One with a damaged identity must not count as the oldest: its file's time stands in."""
    if "created" in run.identity:
        return str(run.identity["created"])
    with contextlib.suppress(FileNotFoundError):
        return datetime.fromtimestamp((run.path / RUN_FILE).stat().st_mtime, UTC).isoformat(timespec="seconds")
    return ""


def _names_of_runs(folder: Path) -> list[str]:
    names = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            # A folder of another user, which we may not look into, hides no run of ours.
            with contextlib.suppress(PermissionError):
                if is_run(Path(entry.path)):
                    names.append(entry.name)
    return names


def _runs_in(folder: Path) -> Iterator[Run]:
    for name in _names_of_runs(folder):
        try:
            yield Run.open(folder / name)
        except RunError:
            # A run of a newer format, or one that was deleted a moment ago: it cannot be listed by this release.
            continue
