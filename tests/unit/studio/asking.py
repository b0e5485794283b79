"""Asks a bare ASGI layer directly, so that nothing on the way normalises what a test wants to send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Answer:
    """What a layer sent back."""

    messages: list[Message] = field(default_factory=list)

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {key.decode().lower(): value.decode() for key, value in self.messages[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages[1:])

    @property
    def error(self) -> dict[str, Any]:
        return json.loads(self.body)


class Inside:
    """The application behind a layer: answers 204 and remembers what came through."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        if scope["type"] == "http":
            message = await receive()
            self.bodies.append(message.get("body", b""))
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})


def scope_of(
    method: str = "GET", path: str = "/api/about", headers: Iterable[tuple[str, str]] = (), **more: Any
) -> Scope:
    pairs = [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in headers]
    about: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": "",
        "query_string": b"",
        "scheme": "http",
        "client": ("192.0.2.7", 5),
        "headers": pairs,
        "state": {},
    }
    return {**about, **more}


def ask(app: ASGIApp, scope: Scope, messages: Iterable[Message] | None = None) -> Answer:
    """Send one request through a layer; after its messages the other side stays silent."""
    waiting = list(messages if messages is not None else [{"type": "http.request", "body": b"", "more_body": False}])
    answer = Answer()

    async def receive() -> Message:
        if waiting:
            return waiting.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        answer.messages.append(message)

    async def run() -> None:
        await app(scope, receive, send)

    asyncio.run(run())
    return answer
