"""What of a run has changed since the last look, told from names, sizes and small documents, without reading tables.

A look costs a listing of a few folders, so that it can be repeated each second while somebody watches.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run.documents import read_document
from cutaway.run.layout import (
    ANNOTATIONS_FILE,
    CONTROL,
    LEASES,
    OVERLAYS,
    RUN_FILE,
    SELECTIONS,
    UNDONE_OVERLAYS,
    evaluation_key,
)
from cutaway.run.leases import LEASE_SECONDS
from cutaway.run.process import is_alive, is_here
from cutaway.run.schemas import FINDINGS, SCALARS, STATISTICS, STEPS
from cutaway.run.storage import Storage

__all__ = ["ASPECTS", "Pulse"]

# What can change of a run, and the folders whose files tell.
_FOLDERS: dict[str, tuple[str, ...]] = {
    "steps": (STEPS, STATISTICS),
    "scalars": (SCALARS,),
    "findings": (FINDINGS,),
    "requests": (CONTROL,),
}
# Of a document; the size of a longer one still tells of most changes.
MOST_BYTES = 1 << 20
# Beside evaluations and their analyses, what people decided about samples; such files may change and stay as long.
_DECIDED = (OVERLAYS, UNDONE_OVERLAYS, SELECTIONS)
# Documents end with a checksum of themselves, and Parquet with what its columns hold.
TAIL_BYTES = 4096
# So many evaluations in a row may have been removed before later ones are no longer looked for.
MOST_REMOVED = 5
ASPECTS = ("state", *_FOLDERS, "annotations", "samples")


class Pulse:
    """Looks at one run again and again; each look says which aspects of it have changed since the last."""

    def __init__(self, storage: Storage, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._beats: dict[str, tuple[Any, float]] = {}
        self._seen = self._signs()

    def look(self) -> list[str]:
        """Return the aspects that have changed since the last look."""
        signs = self._signs()
        changed = [aspect for aspect in ASPECTS if signs[aspect] != self._seen[aspect]]
        self._seen = signs
        return changed

    def _signs(self) -> dict[str, object]:
        signs: dict[str, object] = {aspect: self._sizes(folders) for aspect, folders in _FOLDERS.items()}
        signs["state"] = (self._bytes(RUN_FILE), self._writers())
        signs["annotations"] = self._bytes(ANNOTATIONS_FILE)
        signs["samples"] = (self._evaluated(), [self._tail(key) for folder in _DECIDED for key in self._files(folder)])
        return signs

    def _evaluated(self) -> list[tuple[str, int]]:
        """Return the files of evaluations, which are numbered from 0; a few that were removed end nothing."""
        found: list[tuple[str, int]] = []
        number = empty = 0
        while empty < MOST_REMOVED:
            there = self._sizes((evaluation_key(number),))
            found += there
            number, empty = number + 1, 0 if there else empty + 1
        return found

    def _files(self, folder: str) -> list[str]:
        return [f"{folder}/{name}" for name in self._storage.list(folder)]

    def _tail(self, key: str) -> tuple[str, int, bytes]:
        try:
            size = self._storage.size(key)
            return key, size, self._storage.read(key, max(0, size - TAIL_BYTES), TAIL_BYTES) if size else b""
        except FileNotFoundError:
            return key, 0, b""

    def _sizes(self, folders: tuple[str, ...]) -> list[tuple[str, int]]:
        found = []
        for folder in folders:
            for name in self._storage.list(folder):
                # One that is gone between the listing and this was replaced by a longer one.
                with contextlib.suppress(FileNotFoundError):
                    found.append((f"{folder}/{name}", self._storage.size(f"{folder}/{name}")))
        return found

    def _bytes(self, key: str) -> tuple[int, bytes]:
        try:
            size = self._storage.size(key)
            # What has no size may be a pipe that somebody left there, and reading it would wait for good.
            return size, self._storage.read(key, 0, min(size, MOST_BYTES)) if size else b""
        except FileNotFoundError:
            return 0, b""

    def _writers(self) -> list[tuple[str, str, bool, bool]]:
        """Return what each writer says of itself, and whether it is alive: a kill changes no file."""
        found = []
        for name in self._storage.list(LEASES):
            key = f"{LEASES}/{name}"
            try:
                if not 0 < self._storage.size(key) <= MOST_BYTES:
                    continue
                lease = read_document(self._storage, key)
            except (FileNotFoundError, RunDamaged, RunFormatError):
                continue
            state, paused = str(lease.get("state")), bool(lease.get("paused"))
            found.append((name, state, paused, state in ("starting", "running") and self._is_alive(name, lease)))
        return found

    def _is_alive(self, name: str, lease: dict[str, Any]) -> bool:
        if is_here(lease):
            return is_alive(lease)
        # On another machine: as long as its counter moves.
        beat, since = self._beats.get(name, (None, 0.0))
        if beat != lease.get("beat"):
            beat, since = lease.get("beat"), self._clock()
            self._beats[name] = (beat, since)
        return self._clock() - since < LEASE_SECONDS
