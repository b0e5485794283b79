"""`load_entry`: executes the file that binds a data set, with a binder of its own.

`leap`, and `leap_binder` imported from `cutaway.dataset`, mean that binder while the file is executed and whenever one
of its functions is called. What the file prints is kept. It cannot end the process, and an error in it names the
file and line first. How its imports are kept apart from other entries' is `entry_modules.py`'s.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from cutaway.dataset.binder import Binder
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.current import using
from cutaway.dataset.dataset import Dataset
from cutaway.dataset.entry_modules import EntryPackage, plain_name
from cutaway.dataset.entry_settings import EntrySettings, find_entry
from cutaway.dataset.printed import Printed, captured_prints
from cutaway.errors import BindingError, did_you_mean

__all__ = ["Entry", "custom_layers", "load_entry"]

# The package that bindings written for Tensorleap import from.
TENSORLEAP = "code_loader"


@dataclass(frozen=True)
class Entry:
    """A binding that was loaded from a file.

    `digest` is of the entry file, the files that it imported from its own folder, and those that `include` of its
    `leap.yaml` lists. `prints` is what it printed when it was executed; `seconds` is how long that took.
    """

    path: Path
    root: Path
    binder: Binder
    module: ModuleType
    digest: str
    prints: Printed
    seconds: float

    def dataset(self) -> Dataset:
        """Return the data set that the file binds; its preprocess function is called the first time.

        Its model is what `@tensorleap_load_model` returns, or what a function `leap_save_model(path)` saves.
        """
        source = {"kind": "entry", "entry_file": str(self.path), "digest": self.digest}
        dataset = self.binder.dataset(source)
        save = getattr(self.module, "leap_save_model", None)
        if dataset.load_model is None and callable(save):
            # A function that saves the model to a path is a model to whoever loads one.
            return replace(dataset, load_model=lambda: save)
        return dataset


def load_entry(path: str | Path | None = None) -> Entry:
    """Execute the file that binds a data set.

    `path` is a Python file, a `leap.yaml` whose `entryFile` names it, or a folder with either; None is the current
    folder. Each call executes the file anew. Raises `BindingError` with the file and line where it fails.
    """
    settings = find_entry(path)
    binder = Binder()
    package = EntryPackage([settings.path.parent, settings.root], binder)
    started = time.perf_counter()
    with captured_prints() as prints:
        module = _execute(settings.path, package, binder)
    seconds = time.perf_counter() - started
    digest = _digest(settings, package.files())
    return Entry(settings.path, settings.root, binder, module, digest, prints, seconds)


def custom_layers(path: str | Path | None = None) -> dict[str, type]:
    """Return the layer classes that an entry file binds, by name: what a model file of that binding needs."""
    return {one.name: one.layer for one in load_entry(path).binder.layers}


def _execute(path: Path, package: EntryPackage, binder: Binder) -> ModuleType:
    try:
        with using(binder):
            module: ModuleType = call_theirs(package.execute, path)
    except Failed as failure:
        why = _why(path, failure)
        package.forget()
        raise BindingError(why) from failure.__cause__
    return module


def _why(path: Path, failure: Failed) -> str:
    error = failure.__cause__
    if isinstance(error, SyntaxError):
        line = f" `{error.text.strip()}`" if error.text else ""
        return f"{error.filename or path}:{error.lineno or 1}: SyntaxError: {error.msg}{line}"
    if isinstance(error, ModuleNotFoundError):
        missing = (error.name or "").partition(".")[0]
        if missing == TENSORLEAP:
            return f"{failure.place}: {failure.reason}. Import the same names from `cutaway.dataset` instead."
        return (
            f"{failure.place}: {failure.reason}. Install it where cutaway is installed, "
            f"or put {missing}.py beside {path.name}."
        )
    if isinstance(error, ImportError):
        return f"{failure.place}: {_name_missing(failure.reason)}"
    return f"{failure.place}: {failure.reason}"


def _name_missing(reason: str) -> str:
    """Say which name a module lacks, and which it has that is like it; the entry's modules go by their own names."""
    match = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", reason)
    module = sys.modules.get(match[2]) if match else None
    if match is None or module is None:
        return reason
    known = [name for name in vars(module) if not name.startswith("_")]
    return f"ImportError: {plain_name(match[0])}.{did_you_mean(match[1], known)}"


def _digest(settings: EntrySettings, imported: Iterable[Path]) -> str:
    """Return a hash of names and contents, in the order of the names: the same wherever the folder lies."""
    files = {settings.path, *imported, *_included(settings)}
    digest = hashlib.sha256()
    for name, file in sorted((_path_below(settings.root, file), file) for file in files if file.is_file()):
        with file.open("rb") as content:
            digest.update(f"{name}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def _path_below(root: Path, file: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name


def _included(settings: EntrySettings) -> set[Path]:
    found = {file for pattern in settings.include for file in settings.root.glob(pattern) if file.is_file()}
    return {file for file in found if not _excluded(settings, file)}


def _excluded(settings: EntrySettings, file: Path) -> bool:
    name: Any = _path_below(settings.root, file)
    return any(fnmatch.fnmatch(name, pattern) for pattern in settings.exclude)
