"""Requests to whoever writes a run, and that they were carried out: `control/<id>.json`, then `control/<id>.done`.

Only carries words between processes; what a request means is up to the writer that it names.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from cutaway.errors import RunDamaged
from cutaway.run.documents import read_document, write_document
from cutaway.run.storage import Storage

__all__ = ["Answer", "Request", "answer", "answer_to", "ask", "pending"]


@dataclass(frozen=True)
class Request:
    """Something that one process asks of another through the run folder."""

    action: str
    role: str
    who: str
    why: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    time: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Answer:
    """What became of a request: done or refused, at which step, and why."""

    state: Literal["done", "refused"]
    reason: str
    step: int
    time: float = field(default_factory=time.time)


def ask(storage: Storage, request: Request) -> None:
    """Leave a request; when this returns it survives the process."""
    write_document(storage, f"control/{request.id}.json", asdict(request))


def pending(storage: Storage, role: str) -> list[Request]:
    """Return the unanswered requests for a role, oldest first."""
    names = storage.list("control")
    answered = {name.removesuffix(".done") for name in names if name.endswith(".done")}
    waiting = []
    for name in names:
        if name.endswith(".json") and name.removesuffix(".json") not in answered:
            # A request that cannot be read cannot be carried out either; its sender sees no answer.
            with contextlib.suppress(OSError, RunDamaged, TypeError):
                request = Request(**read_document(storage, f"control/{name}"))
                if request.role == role:
                    waiting.append(request)
    return sorted(waiting, key=lambda request: (request.time, request.id))


def answer(storage: Storage, request: Request, reply: Answer) -> None:
    """Say what became of a request."""
    write_document(storage, f"control/{request.id}.done", asdict(reply))


def answer_to(storage: Storage, request: Request) -> Answer | None:
    """Return the answer to a request, or None while there is none."""
    try:
        return Answer(**read_document(storage, f"control/{request.id}.done"))
    except FileNotFoundError:
        return None
