"""Imports of an entry file from its own folder, apart from those of every other entry in the process.

Each loaded entry is a package of its own in `sys.modules` (`cutaway_entry_<n>`), whose path is the entry's folder and
the folder of its settings. `import config` inside the entry's code means that package's `config`, when it is executed
and ever after, also where an encoder imports it only when it is called; another entry with a `config.py` has its own.
A file of the folder comes before an installed package of the same name, as in a script that is run there; a folder
without `__init__.py` comes after. `sys.path` is not touched, and stays as the entry's own code leaves it.

What this does not reach is an import that the code does not spell: `importlib.import_module("config")` and names in
strings that another library imports. Write `import config`.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

__all__ = ["EntryPackage", "plain_name"]

_PREFIX = "cutaway_entry_"
_numbers = count(1)


def plain_name(text: str) -> str:
    """Return a text with the modules of entries under the names that their own code uses.

    >>> plain_name("cannot import name 'x' from 'cutaway_entry_1.mnist.data'")
    "cannot import name 'x' from 'mnist.data'"
    """
    return re.sub(rf"{_PREFIX}\d+\.", "", text)


class EntryPackage:
    """The modules of one loaded entry. `leap` is what the name means in all of them."""

    def __init__(self, folders: Sequence[Path], leap: Any) -> None:
        self.name = f"{_PREFIX}{next(_numbers)}"
        self._folders = [str(folder) for folder in dict.fromkeys(folders)]
        # The names that every module of the entry has without importing them; its imports go through here too.
        self.builtins = {**vars(builtins), "__import__": self._import, "leap": leap}
        self._package = ModuleType(self.name)
        self._package.__path__ = self._folders
        # What was written a moment ago must be found.
        PathFinder.invalidate_caches()
        _install_finder()
        _packages[self.name] = self
        sys.modules[self.name] = self._package

    def execute(self, path: Path) -> ModuleType:
        """Execute a file as a module of the entry, under its own name."""
        name = f"{self.name}.{path.stem}"
        loader = _EntryLoader(self, name, str(path))
        spec = ModuleSpec(name, loader, origin=str(path))
        spec.has_location = True
        module = module_from_spec(spec)
        sys.modules[name] = module
        setattr(self._package, path.stem, module)
        loader.exec_module(module)
        return module

    def files(self) -> list[Path]:
        """Return the files that were imported from the entry's folders so far."""
        # The names alone: making pairs may start the garbage collector, and what that closes may import something.
        mine = [name for name in list(sys.modules) if name.startswith(f"{self.name}.")]
        found = [getattr(sys.modules.get(name), "__file__", None) for name in mine]
        return [Path(file) for file in found if file is not None]

    def forget(self) -> None:
        """Take the modules out of the process; functions that somebody still holds go on without lazy imports."""
        for name in [name for name in list(sys.modules) if name == self.name or name.startswith(f"{self.name}.")]:
            del sys.modules[name]
        _packages.pop(self.name, None)

    def find(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Return how a module of the entry is loaded."""
        spec = PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader) and spec.origin is not None:
            spec.loader = _EntryLoader(self, name, spec.origin)
        return spec

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level or not self._is_own(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        own = f"{self.name}.{name}"
        try:
            module = builtins.__import__(own, globals, locals, fromlist or (), 0)
        except ModuleNotFoundError as error:
            if error.name is not None and error.name.startswith(f"{self.name}."):
                missing = error.name.removeprefix(f"{self.name}.")
                raise ModuleNotFoundError(f"No module named {missing!r}", name=missing) from None
            raise
        return module if fromlist else sys.modules[f"{self.name}.{top}"]

    def _is_own(self, top: str) -> bool:
        if f"{self.name}.{top}" in sys.modules:
            return True
        spec = PathFinder.find_spec(top, self._folders)
        if spec is None:
            return False
        is_file = spec.loader is not None and spec.origin is not None
        return is_file or _is_folder(top)


def _is_folder(top: str) -> bool:
    """Whether a name means no code outside of the entry: nothing, or a folder without `__init__.py`."""
    loaded = sys.modules.get(top)
    spec = find_spec(top) if loaded is None else loaded.__spec__
    return spec is None or (spec.origin is None and spec.submodule_search_locations is not None)


class _EntryLoader(SourceFileLoader):
    """Executes a file with the entry's own builtins, always from its source: bytecode of a second ago may be stale."""

    def __init__(self, package: EntryPackage, name: str, path: str) -> None:
        super().__init__(name, path)
        self._entry = package

    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._entry.builtins
        super().exec_module(module)


class _EntryFinder(MetaPathFinder):
    """Finds the modules of entries, and nothing else."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        package = _packages.get(fullname.partition(".")[0])
        return package.find(fullname, path) if package is not None and path is not None else None


_packages: dict[str, EntryPackage] = {}
_finder = _EntryFinder()


def _install_finder() -> None:
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
