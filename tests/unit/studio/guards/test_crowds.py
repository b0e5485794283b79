"""Only so many requests are answered at once; the next is told to wait, and a place that is free is given again."""

import asyncio

from starlette.types import Message, Receive, Scope, Send

from cutaway.studio.guards.bounds import BoundedCrowd
from tests.unit.studio.asking import scope_of


def test_one_too_many_is_told_to_wait_and_places_become_free_again() -> None:
    async def run() -> list[int]:
        release = asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            await release.wait()
            if scope["path"] == "/fails":
                raise ZeroDivisionError
            await send({"type": "http.response.start", "status": 204, "headers": []})

        layer = BoundedCrowd(slow, most=2)
        statuses: list[int] = []

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Message:
            raise AssertionError

        busy = [asyncio.create_task(layer(scope_of(path=path), receive, send)) for path in ("/a", "/fails")]
        await asyncio.sleep(0)
        await layer(scope_of(), receive, send)
        release.set()
        await asyncio.gather(*busy, return_exceptions=True)
        await layer(scope_of(), receive, send)
        return statuses

    assert asyncio.run(run()) == [503, 204, 204]
