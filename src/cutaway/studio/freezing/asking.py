"""Asks the studio's application inside this process: a request is a call, and nothing listens anywhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from starlette.types import ASGIApp, Message

__all__ = ["Inside", "InsideAnswer", "Pairs", "inside"]

Pairs = Sequence[tuple[str, str]]


@dataclass
class InsideAnswer:
    """What came back: the status, what kind of content it is, and the content."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def kind(self) -> str:
        """`json`, `arrow` or `bytes`."""
        named = self.headers.get("content-type", "")
        return "json" if "json" in named else "arrow" if "arrow" in named else "bytes"


class Inside:
    """An application that can be asked."""

    def __init__(self, app: ASGIApp, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop

    def get(self, path: str, query: Pairs = ()) -> InsideAnswer:
        """Ask for a path of the API, below `/api/`; neither path nor query are encoded yet."""
        return asyncio.run_coroutine_threadsafe(self._ask(f"/api/{path}", query), self._loop).result()

    async def _ask(self, path: str, query: Pairs) -> InsideAnswer:
        answer = InsideAnswer()
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if asked:
                # Whoever asks stays until the answer is there.
                await asyncio.Event().wait()
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
            elif message["type"] == "http.response.body":
                answer.body += message.get("body", b"")

        await self._app(_scope(path, query), receive, send)
        return answer


def _scope(path: str, query: Pairs) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": urlencode(query, errors="surrogatepass").encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
    }


@contextmanager
def inside(app: ASGIApp) -> Iterator[Inside]:
    """Give an application to ask while the block runs; also where this thread runs an event loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="cutaway-freezing", daemon=True)
    thread.start()
    try:
        yield Inside(app, loop)
    finally:
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
