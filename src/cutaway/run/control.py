"""Requests to whoever writes a run, and that they were carried out: `control/<id>.json`, then `control/<id>.done`.

Only carries words between processes; the writer that a request names carries it out. The hook of a training, whose role
is `train`, knows these actions and arguments:

    stop                                     done once the loop has seen it in `hook.should_stop`
    pause, resume                            hold the training at the end of a step, and let it go on
    checkpoint                               call the function that the loop gave to `hook.on_checkpoint`
    dump                                     save every watched tensor of the next step in full
    set {"lr": x} or set {"lr_factor": x}    the learning rate of the registered optimizers

An id is asked once: who derives it from what is wanted, and why, cannot have it done twice. A request that names its
attempt is carried out by that attempt of the training or by none: a kill in between cannot make it happen twice either.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from cutaway.errors import RunDamaged
from cutaway.run.documents import read_document, write_document
from cutaway.run.layout import CONTROL
from cutaway.run.storage import Storage

__all__ = ["ACTIONS", "SETTINGS", "Inbox", "Reply", "Request", "answer", "answer_to", "ask", "history"]

ACTIONS = ("stop", "pause", "resume", "checkpoint", "dump", "set")
# What `set` takes, one at a time.
SETTINGS = ("lr", "lr_factor")

_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("action", "role", "who", "why", "id"), str),
    "arguments": dict,
    "attempt": (int, type(None)),
    "time": (int, float),
}


@dataclass(frozen=True)
class Request:
    """Something that one process asks of another through the run folder; `attempt` is the one that it is meant for."""

    action: str
    role: str
    who: str
    why: str
    arguments: dict[str, Any] = field(default_factory=dict)
    attempt: int | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    time: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Reply:
    """What became of a request: done or refused, at which step, and why.

    One that was delivered waits for the loop, and is answered again once the loop has carried it out.
    """

    state: Literal["delivered", "done", "refused"]
    reason: str
    step: int
    time: float = field(default_factory=time.time)


class Inbox:
    """The requests for a role, each handed out once. Looking at a folder without new ones costs one listing."""

    def __init__(self, storage: Storage, role: str) -> None:
        self._storage = storage
        self._role = role
        self._listed: list[str] = []
        self._read: set[str] = set()
        self._ids: set[str] = set()

    def new(self) -> list[Request]:
        """Return the unanswered requests that were not returned before, oldest first.

        One that cannot be read is left, and tried again the next time: it may have been only half visible.
        """
        names = self._storage.list(CONTROL)
        if names == self._listed:
            return []
        found = [request for name in _unanswered(names) if (request := self._take(name)) is not None]
        if all(name in self._read for name in _unanswered(names)):
            self._listed = names
        return sorted(found, key=lambda request: (request.time, request.id))

    def _take(self, name: str) -> Request | None:
        if name in self._read:
            return None
        request = _request(self._storage, name)
        if request is None:
            return None
        self._read.add(name)
        if request.role != self._role or request.id in self._ids:
            return None
        self._ids.add(request.id)
        return request


def ask(storage: Storage, request: Request) -> bool:
    """Leave a request; when this returns it survives the process. False where one of that id was left before."""
    try:
        write_document(storage, f"{CONTROL}/{request.id}.json", asdict(request), exclusive=True)
    except FileExistsError:
        return False
    return True


def answer(storage: Storage, request: Request, reply: Reply) -> None:
    """Say what became of a request."""
    write_document(storage, f"{CONTROL}/{request.id}.done", asdict(reply))


def answer_to(storage: Storage, request: Request) -> Reply | None:
    """Return the answer to a request, or None while there is none."""
    try:
        return Reply(**read_document(storage, f"{CONTROL}/{request.id}.done"))
    except FileNotFoundError:
        return None


def history(storage: Storage) -> list[tuple[Request, Reply | None]]:
    """Return every request that can be read with its answer, oldest first."""
    names = [name for name in storage.list(CONTROL) if name.endswith(".json")]
    found = [request for name in names if (request := _request(storage, name)) is not None]
    both = []
    for request in sorted(found, key=lambda request: (request.time, request.id)):
        reply = None
        with contextlib.suppress(OSError, RunDamaged, TypeError):
            reply = answer_to(storage, request)
        both.append((request, reply))
    return both


def _unanswered(names: list[str]) -> list[str]:
    answered = {name.removesuffix(".done") for name in names if name.endswith(".done")}
    return [name for name in names if name.endswith(".json") and name.removesuffix(".json") not in answered]


def _request(storage: Storage, name: str) -> Request | None:
    """Read a request, or return None: what cannot be read cannot be carried out; its sender sees no answer."""
    try:
        request = Request(**read_document(storage, f"{CONTROL}/{name}"))
    except (OSError, RunDamaged, TypeError, ValueError):
        return None
    whole = all(isinstance(getattr(request, key), kind) for key, kind in _KINDS.items())
    # Its answer is written under its id: one that is not the file's own could name any place.
    return request if whole and f"{request.id}.json" == name else None
