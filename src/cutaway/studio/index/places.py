"""Where runs lie under a folder, directly in it and in folders of folders down to a bounded depth, and by which ids.

Looks at names and times, and of each run reads the id that stands in its `run.json`. Follows no link, and looks into no
run folder.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cutaway.run.layout import LEASES, RUN_FILE, SAMPLES, TRACE
from cutaway.run.plain_text import plain_text
from cutaway.run.schemas import SCALARS
from cutaway.studio.index.ids import OwnIds, digest, id_of_place
from cutaway.studio.index.looking import is_there, time_of

__all__ = ["DEEPEST", "MOST_FOLDERS", "Place", "Places"]

log = logging.getLogger("cutaway.studio")

# A run directly in the folder has depth 1.
DEEPEST = 4
# Somebody may point a studio at a whole disk.
MOST_FOLDERS = 20_000
# A folder that was changed this recently may have been changed again since, within one tick of its clock.
_UNSETTLED_SECONDS = 2.0
_DATA = frozenset((TRACE, SCALARS, SAMPLES))


class Place(NamedTuple):
    """A folder that is a run, or that should have been one; `reason` says why it cannot be opened."""

    id: str
    path: str
    folder: str
    reason: str = ""

    @property
    def name(self) -> str:
        """What people call it."""
        return plain_text(Path(self.path).name, 300)


class _FoundRun(NamedTuple):
    """A run folder by its place below the root, which is empty for the root itself."""

    relative: str
    path: str
    reason: str = ""


@dataclass
class _FoundFolder:
    """A folder that is no run, as it was when it was last looked into."""

    mark: int
    runs: dict[str, _FoundRun] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


class Places:
    """The places of all runs under a root. `look` again is cheap: a folder whose time is the same is not read again."""

    def __init__(self, root: Path) -> None:
        # Absolute, since a process may change its current folder; not resolved, since that may be long ago.
        self.root = str(root.absolute())
        self._folders: dict[str, _FoundFolder] = {}
        self._ids = OwnIds()
        self._places: dict[str, Place] = {}
        self._said_full = False

    def look(self) -> dict[str, Place]:
        """Return every run that is there now, by its id.

        Of runs that say the same id of themselves, copies most often, the one with the smallest path keeps it.
        """
        places: dict[str, Place] = {}
        for one in sorted(self._find()):
            own = id_of_place(one.relative, Path(one.path).name) if one.reason else self._ids.of(one.path)
            chosen, tries = own, 0
            # No two are the same, whatever runs that come from anybody say of themselves.
            while chosen in places:
                chosen, tries = f"{own}-{digest(one.relative, tries)}", tries + 1
            known = self._places.get(chosen)
            if known is None or (known.path, known.reason) != (one.path, one.reason):
                known = Place(chosen, one.path, plain_text(one.relative or Path(one.path).name, 1000), one.reason)
            places[chosen] = known
        self._places = places
        self._ids.keep(place.path for place in places.values())
        return dict(places)

    def is_empty(self) -> bool:
        """Whether there is no run: by names alone, without reading any."""
        return not self._find()

    def _find(self) -> list[_FoundRun]:
        if _is_run(self.root):
            self._folders = {}
            return [_FoundRun("", self.root)]
        found: list[_FoundRun] = []
        seen: dict[str, _FoundFolder] = {}
        waiting: list[tuple[str, int, _FoundFolder | None]] = [("", 0, None)]
        while waiting and len(seen) < MOST_FOLDERS:
            relative, depth, parent = waiting.pop()
            looked = self._look_into(relative, depth)
            if isinstance(looked, _FoundRun):
                found.append(looked)
                if parent is not None and not looked.reason:
                    # It has become a run since its parent was looked at, and is not looked into any more.
                    parent.folders.remove(relative)
                    parent.runs[Path(looked.path).name] = looked
            elif looked is not None:
                seen[relative] = looked
                found += looked.runs.values()
                waiting += [(folder, depth + 1, looked) for folder in looked.folders]
        self._folders = seen
        if waiting and not self._said_full:
            self._said_full = True
            log.warning("Only the first %d folders under %s were searched for runs.", MOST_FOLDERS, self.root)
        return found

    def _look_into(self, relative: str, depth: int) -> _FoundFolder | _FoundRun | None:
        path = f"{self.root}/{relative}" if relative else self.root
        known = self._folders.get(relative)
        try:
            mark = time_of(path)
            if known is not None and known.mark == mark:
                return known
            return self._scan(relative, path, depth, mark, known)
        except PermissionError:
            return _FoundRun(relative, path, "its folder may not be looked into") if relative else None
        except OSError:
            # Gone, or replaced by a file, since its parent was looked at.
            return None

    def _scan(
        self, relative: str, path: str, depth: int, mark: int, known: _FoundFolder | None
    ) -> _FoundFolder | _FoundRun:
        # Taken before the look: what appears during it is found by the next one.
        settled = abs(time.time() - mark / 1e9) > _UNSETTLED_SECONDS
        folder = _FoundFolder(mark if settled else -1)
        names = set()
        with os.scandir(path) as entries:
            for entry in entries:
                names.add(entry.name)
                if not entry.name.startswith("."):
                    self._sort_in(folder, relative, entry, depth, known)
        if relative and RUN_FILE in names:
            return _FoundRun(relative, path)
        if relative and LEASES in names and not names.isdisjoint(_DATA):
            return _FoundRun(relative, path, "it has no run.json: it was half deleted, or copied without it")
        return folder

    def _sort_in(
        self, folder: _FoundFolder, relative: str, entry: os.DirEntry[str], depth: int, known: _FoundFolder | None
    ) -> None:
        inside = f"{relative}/{entry.name}" if relative else entry.name
        before = known.runs.get(entry.name) if known is not None else None
        if entry.is_symlink():
            # A link to a run of this folder shows nothing new; one that leads out is named, and not followed.
            if entry.is_dir() and not self.is_inside(entry.path) and _is_run(entry.path):
                reason = "it is a link that leads out of the studio's folder, and is not followed"
                folder.runs[entry.name] = _FoundRun(inside, entry.path, reason)
        elif not entry.is_dir(follow_symlinks=False):
            return
        elif before is not None and not before.reason:
            folder.runs[entry.name] = before
        elif depth < DEEPEST and _is_run(entry.path):
            folder.runs[entry.name] = _FoundRun(inside, entry.path)
        elif depth + 1 < DEEPEST:
            folder.folders.append(inside)

    def is_inside(self, path: str) -> bool:
        """Whether a path leads to something in the root, links followed."""
        with contextlib.suppress(OSError, ValueError):
            real, root = os.path.realpath(path), os.path.realpath(self.root)
            return os.path.commonpath((real, root)) == root
        return False


def _is_run(path: str) -> bool:
    return is_there(f"{path}/{RUN_FILE}")
