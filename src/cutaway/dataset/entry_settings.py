"""Finds the entry file of a binding, and reads `leap.yaml`: plain values only, of bounded size. Executes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutaway.errors import BindingError, did_you_mean
from cutaway.run.plain_yaml import read_plain_yaml

__all__ = ["ENTRY_FILES", "SETTINGS_FILE", "EntrySettings", "find_entry"]

SETTINGS_FILE = "leap.yaml"
ENTRY_FILES = ("leap_binder.py", "leap_integration.py")
_LARGEST_FILE = 64 * 1024


@dataclass(frozen=True)
class EntrySettings:
    """Which file to execute, in which folder, and the patterns of the files that belong to it."""

    path: Path
    root: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def find_entry(path: str | Path | None = None) -> EntrySettings:
    """Return the entry that a path means: a Python file, a folder, a `leap.yaml`; None is the current folder."""
    given = Path(path) if path is not None else Path.cwd()
    if given.is_dir():
        return _in_folder(given)
    if not given.is_file():
        raise BindingError(_missing(given))
    if given.suffix in (".yaml", ".yml"):
        return _from_settings(given)
    return EntrySettings(given.resolve(), given.resolve().parent)


def _in_folder(folder: Path) -> EntrySettings:
    if (folder / SETTINGS_FILE).is_file():
        return _from_settings(folder / SETTINGS_FILE)
    return EntrySettings(_usual_file(folder), folder.resolve())


def _usual_file(folder: Path) -> Path:
    found = next((folder / name for name in ENTRY_FILES if (folder / name).is_file()), None)
    if found is None:
        python = sorted(path.name for path in folder.glob("*.py"))
        near = f" It has {', '.join(python[:5])}." if python else ""
        raise BindingError(
            f"{str(folder)!r} has no {SETTINGS_FILE}, {ENTRY_FILES[0]} or {ENTRY_FILES[1]}.",
            hint=f"{near} Give the path of the Python file that binds the data set.",
            path=folder,
        )
    return found.resolve()


def _from_settings(path: Path) -> EntrySettings:
    settings = _read_settings(path)
    root = path.resolve().parent
    include, exclude = (_patterns(path, settings, key) for key in ("include", "exclude"))
    name = settings.get("entryFile")
    if name is None:
        return EntrySettings(_usual_file(root), root, include, exclude)
    if not isinstance(name, str) or not name.strip():
        raise BindingError(f"{path}: `entryFile` must be the name of a Python file, but is {name!r}.", path=path)
    entry = (root / name).resolve()
    if not entry.is_relative_to(root):
        raise BindingError(
            f"{path}: `entryFile` {name!r} leaves the folder.",
            hint=f"Move {SETTINGS_FILE} to a folder above it.",
            path=path,
        )
    if not entry.is_file():
        raise BindingError(f"{path}: `entryFile` is {name!r}.", hint=_missing(entry), path=path)
    return EntrySettings(entry, root, include, exclude)


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = read_plain_yaml(path, largest=_LARGEST_FILE, what=SETTINGS_FILE)
    except ValueError as error:
        raise BindingError(str(error)) from error
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise BindingError(f"{path} holds {type(settings).__name__}, but settings are `key: value` lines.", path=path)
    return settings


def _patterns(path: Path, settings: dict[str, Any], key: str) -> tuple[str, ...]:
    given = settings.get(key)
    if given is None:
        return ()
    listed: Sequence[Any] = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise BindingError(f"{path}: `{key}` must be a list of file patterns, but is {given!r}.", path=path)
    outside = next((one for one in listed if one.startswith("/") or ".." in Path(one).parts), None)
    if outside is not None:
        raise BindingError(
            f"{path}: `{key}` has {outside!r}, which leaves the folder.", hint="Name files below it.", path=path
        )
    return tuple(listed)


def _missing(path: Path) -> str:
    folder = path.parent
    there = [one.name for one in folder.iterdir()] if folder.is_dir() else []
    python = [name for name in there if name.endswith((".py", ".yaml"))]
    return f"No file {str(path)!r}.{did_you_mean(path.name, python)} Give a Python file, a folder or a {SETTINGS_FILE}."
