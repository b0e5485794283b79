"""Who carries a request out where several could: `control/<id>.claim-<n>`.

A claim is made exclusively and holds as long as its process lives. The claim of a process that is gone is not removed
but overtaken by the next number: of two that see it at once only one gets that. Says nothing of what is done.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from cutaway.errors import RunDamaged
from cutaway.run.control import Request
from cutaway.run.documents import read_document, write_document
from cutaway.run.layout import CONTROL
from cutaway.run.leases import LEASE_SECONDS, RunState, read_leases
from cutaway.run.process import is_alive, is_here, this_process
from cutaway.run.storage import Storage

__all__ = ["Claim", "Claims"]


class Claim:
    """One process's word that it carries a request out."""

    def __init__(self, storage: Storage, key: str, *, interrupted: bool) -> None:
        self._storage = storage
        self._key = key
        # Whoever had the request before was gone in the middle of it: perhaps it was carried out.
        self.interrupted = interrupted
        self._write(busy=False, exclusive=True)

    def begin(self) -> None:
        """Say that it is being carried out at this moment."""
        self._write(busy=True)

    def pause(self) -> None:
        """Say that it was not carried out, and will be tried again."""
        self._write(busy=False)

    def release(self) -> None:
        """Give the request back, or forget it once it is answered."""
        with contextlib.suppress(OSError):
            self._storage.remove(self._key)

    def _write(self, *, busy: bool, exclusive: bool = False) -> None:
        content = {**this_process(), "busy": busy, "interrupted": self.interrupted}
        write_document(self._storage, self._key, content, durable=False, exclusive=exclusive)


class Claims:
    """Takes requests on for one process of a role."""

    def __init__(self, storage: Storage, role: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._role = role
        self._clock = clock
        self._moves: dict[tuple[object, ...], tuple[object, float]] = {}

    def claim(self, request: Request) -> Claim | None:
        """Take a request on, or return None while another live process has it."""
        prefix = f"{request.id}.claim-"
        names = [name for name in self._storage.list(CONTROL) if name.startswith(prefix)]
        numbers = sorted(int(name.removeprefix(prefix)) for name in names if name.removeprefix(prefix).isdigit())
        interrupted = False
        if numbers:
            owner = self._owner(f"{CONTROL}/{prefix}{numbers[-1]}")
            if owner is None or self._lives(owner):
                return None
            interrupted = bool(owner["busy"] or owner["interrupted"])
        key = f"{CONTROL}/{prefix}{numbers[-1] + 1 if numbers else 0}"
        try:
            claim = Claim(self._storage, key, interrupted=interrupted)
        except FileExistsError:
            return None
        for number in numbers:
            with contextlib.suppress(OSError):
                self._storage.remove(f"{CONTROL}/{prefix}{number}")
        return claim

    def _owner(self, key: str) -> dict[str, Any] | None:
        try:
            return read_document(self._storage, key)
        except FileNotFoundError:
            return None  # given back just now
        except RunDamaged:
            # Nobody can be asked; perhaps it was carried out.
            return {"machine": "", "busy": True, "interrupted": True}

    def _lives(self, owner: dict[str, Any]) -> bool:
        """Whether a claim still holds: of another machine, as long as we have seen its lease move lately."""
        if is_here(owner):
            return is_alive(owner)
        who = tuple(owner.get(name) for name in ("machine", "pid", "started"))
        leases = [
            lease
            for lease in read_leases(self._storage, self._role)
            if tuple(lease.get(name) for name in ("machine", "pid", "started")) == who
        ]
        if leases and all(lease["state"] != RunState.RUNNING for lease in leases):
            return False
        beats = [lease["beat"] for lease in leases]
        seen, since = self._moves.get(who, (None, 0.0))
        if who not in self._moves or seen != beats:
            self._moves[who] = (beats, self._clock())
            return True
        return self._clock() - since < 2 * LEASE_SECONDS
