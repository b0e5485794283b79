"""Who is alive: each writer of a run renews a lease, and readers tell from it what became of the writer.

A lease is a counter that a reader sees move, never a compared clock. On the same machine the process itself is looked
up, so the answer is there at once; across machines it takes one lease.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from cutaway.errors import RunLocked, StorageError
from cutaway.run.process import is_alive, is_here, this_process
from cutaway.run.segments import WriterId
from cutaway.run.storage import Storage

__all__ = ["BEAT_SECONDS", "LEASE_SECONDS", "Lease", "RunState", "lease_state"]

BEAT_SECONDS = 1.0
LEASE_SECONDS = 5.0


class RunState(StrEnum):
    """What became of a run, or of one of its writers."""

    RUNNING = "running"
    FINISHED = "finished"  # it was closed
    FAILED = "failed"  # an exception was seen
    ENDED = "ended"  # the process exited without closing it
    LOST = "lost"  # its lease stopped moving, on a machine that we cannot see
    CRASHED = "crashed"  # its process is gone


class Lease:
    """One writer's claim on a role and worker of a run, for one attempt."""

    def __init__(self, storage: Storage, path: str, writer: WriterId) -> None:
        self._storage = storage
        self._key = f"leases/{writer.role}-{writer.worker}-{writer.attempt}.json"
        self._content: dict[str, Any] = {**writer._asdict(), **this_process(), "beat": 0, "state": RunState.RUNNING}
        try:
            # Exclusive creation decides between two that start at the same moment.
            claim = storage.create(self._key)
        except FileExistsError:
            raise RunLocked(path, writer.role, writer.worker, "another process that started just now") from None
        claim.append([json.dumps(self._content).encode()])
        claim.close()

    def beat(self) -> None:
        """Show that this writer lives; called about every `BEAT_SECONDS`."""
        self._content["beat"] += 1
        self._write()

    def release(self, state: RunState) -> None:
        """Say how it ended."""
        self._content["state"] = state
        self._write()

    def _write(self) -> None:
        self._storage.replace(self._key, json.dumps(self._content).encode(), durable=False)


def read_leases(storage: Storage, role: str) -> list[dict[str, Any]]:
    """Return the leases of a role, the newest attempt of each worker only."""
    newest: dict[str, dict[str, Any]] = {}
    for name in storage.list("leases"):
        if name.startswith(f"{role}-") and name.endswith(".json"):
            # A lease that vanished or is half created says nothing; the next look will.
            with contextlib.suppress(OSError, ValueError):
                lease = json.loads(storage.read(f"leases/{name}"))
                if lease["attempt"] >= newest.get(lease["worker"], lease)["attempt"]:
                    newest[lease["worker"]] = lease
    return [newest[worker] for worker in sorted(newest)]


def refuse_live_writer(storage: Storage, path: str, role: str, worker: str) -> None:
    """Raise `RunLocked` when a live process already writes as this role and worker."""
    for lease in read_leases(storage, role):
        if lease["worker"] == worker and lease_state(storage, lease) is RunState.RUNNING:
            holder = f"process {lease['pid']} on {lease['host']}"
            raise RunLocked(path, role, worker, holder)


def lease_state(
    storage: Storage,
    lease: dict[str, Any],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> RunState:
    """Say what became of a writer. For one on another machine this waits until its lease moves, at most one lease."""
    state = RunState(lease["state"])
    if state is not RunState.RUNNING:
        return state
    if is_here(lease):
        return RunState.RUNNING if is_alive(lease) else _last_word(storage, lease)
    waited = 0.0
    while waited < LEASE_SECONDS:
        sleep(BEAT_SECONDS / 2)
        waited += BEAT_SECONDS / 2
        now = _again(storage, lease)
        if now["beat"] != lease["beat"] or now["state"] != lease["state"]:
            return RunState(now["state"])
    return RunState.LOST


def _last_word(storage: Storage, lease: dict[str, Any]) -> RunState:
    """A process that is gone may have written its end between our two looks."""
    state = RunState(_again(storage, lease)["state"])
    return RunState.CRASHED if state is RunState.RUNNING else state


def _again(storage: Storage, lease: dict[str, Any]) -> dict[str, Any]:
    key = f"leases/{lease['role']}-{lease['worker']}-{lease['attempt']}.json"
    try:
        return dict(json.loads(storage.read(key)))
    except (OSError, StorageError, ValueError):
        return lease
