"""What is live: one stream of events for everything that a page watches, and the same by polling."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from cutaway.studio.live import Listener
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data
from cutaway.studio.wire.live import Events

__all__ = ["router"]

router = APIRouter(tags=["live"])

# Proxies close what is silent for longer, often after 30 s or 60 s.
HEARTBEAT_SECONDS = 15.0
RETRY_MILLISECONDS = 2000

Topics = Annotated[list[str], Query(alias="topic", min_length=1, max_length=50, description="`runs`, or `run:<id>`.")]


class _Stream(StreamingResponse):
    """A stream that lets go of its listener however it ends."""

    media_type = "text/event-stream"

    def __init__(self, listener: Listener, news: asyncio.Event) -> None:
        # nginx holds answers back otherwise.
        super().__init__(_lines(listener, news), headers={"X-Accel-Buffering": "no"})
        self._listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until either side has enough."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._listener.close()


@router.get("/live", response_class=Response)
async def stream(studio: TheStudio, topics: Topics, request: Request) -> Response:
    """Stream events as they happen (`text/event-stream`, each an `Event` as JSON)."""
    news, loop = asyncio.Event(), asyncio.get_running_loop()

    def wake() -> None:
        # A loop that has ended has nobody left to wake.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(news.set)

    # Browsers send it when a stream was cut; it then goes on where it was.
    last = request.headers.get("last-event-id", "")[:200]
    return _Stream(await run_in_threadpool(studio.feed.listen, topics, last, wake), news)


@router.get("/changes")
def changes(studio: TheStudio, topics: Topics, since: Annotated[str, Query(max_length=200)] = "") -> Data[Events]:
    """Return the events since a token; without one, the token of now."""
    events, token = studio.feed.since(topics, since)
    return Data(data=Events(events=events, since=token))


async def _lines(listener: Listener, news: asyncio.Event) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    while not listener.is_over:
        news.clear()
        events, token = listener.take()
        for event in events:
            yield f"id: {token}\ndata: {event.model_dump_json(exclude_none=True)}\n\n"
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await news.wait()
        except TimeoutError:
            yield ": still here\n\n"
