"""What watchers say of the rules that they ask, each in a document of its own: silence alone is not health."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from typing import Any

from cutaway.errors import RunDamaged
from cutaway.run.documents import read_document, write_document
from cutaway.run.layout import WATCH
from cutaway.run.storage import Storage

__all__ = ["Status", "read_watches", "write_watch"]


class Status(StrEnum):
    """How a rule stands."""

    WAITING = "WAITING"  # no step has come yet
    SILENT = "SILENT"  # it has judged steps, and nothing was wrong
    FIRED = "FIRED"
    SKIPPED = "SKIPPED"  # the run lacks what it needs: it could judge no step so far
    BROKEN = "BROKEN"  # it raised


def write_watch(storage: Storage, watcher: str, content: dict[str, Any]) -> None:
    """Say how a watcher stands; it says so again soon, so this need not survive the machine."""
    write_document(storage, f"{WATCH}/{watcher}.json", content, durable=False)


def read_watches(storage: Storage) -> list[dict[str, Any]]:
    """Return what the watchers of a run said last; one that cannot be read is left to `Run.verify` to name."""
    found = []
    for name in storage.list(WATCH):
        with contextlib.suppress(RunDamaged, FileNotFoundError):
            found.append(read_document(storage, f"{WATCH}/{name}"))
    return found
