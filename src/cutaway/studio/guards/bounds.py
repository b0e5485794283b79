"""How many requests are answered at once, how much may be sent, how long that may take, and that JSON is what it seems.

A body is taken whole before anything looks at it, at most `MOST_BYTES` of it (a file where a route takes one:
`MOST_FILE_BYTES`) and for at most a few seconds, however it is sent. What is JSON must be JSON to every reader: no NaN,
no number beyond a double, no key twice, no deep nesting.
"""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutaway.studio.answers.errors import Refusal, refuse
from cutaway.studio.guards.routes import takes_file

__all__ = ["MOST_BYTES", "MOST_FILE_BYTES", "MOST_REQUESTS", "BoundedBodies", "BoundedCrowd", "json_fault"]

# Streams of what is live are counted too; they have a smaller bound of their own.
MOST_REQUESTS = 300


class BoundedCrowd:
    """Answers 503 to a request that comes while `most` others are being answered."""

    def __init__(self, app: ASGIApp, most: int = MOST_REQUESTS) -> None:
        self._app = app
        self._most = most
        self._now = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on unless too many are there."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._now >= self._most:
            error = f"This studio answers {self._most} requests at once, and that many are being answered."
            await refuse(Refusal(503, "too-busy", error, "Ask again in a few seconds."), scope, receive, send)
            return
        self._now += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._now -= 1


MOST_BYTES = 1 << 20
MOST_FILE_BYTES = 8 << 20
MOST_NESTING = 32
# Far more than any object that the API takes; each one that is too many would be told about.
MOST_KEYS = 1000


class BoundedBodies:
    """Reads a body whole, within its bounds, before it is passed on."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with a body that is whole and small."""
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is None or ("content-length" not in headers and "transfer-encoding" not in headers):
            await self._app(scope, receive, send)
            return
        try:
            body = await self._body(headers, receive, MOST_FILE_BYTES if takes_file(scope) else MOST_BYTES)
            if body is None:
                return  # whoever sent it has gone
        except Refusal as refusal:
            # The rest of the body is still on its way: nothing more can be asked over this connection.
            await refuse(refusal, scope, receive, _closing(send))
            return
        await self._app(scope, _replay(body, receive), send)

    async def _body(self, headers: Headers, receive: Receive, most: int) -> bytes | None:
        said = headers.get("content-length", "")
        if said.isdecimal() and (len(said) > 12 or int(said) > most):
            raise _too_large(most)
        try:
            async with asyncio.timeout(self._seconds):
                body = await _read(receive, most)
        except TimeoutError:
            error = f"The body did not arrive within {self._seconds:g} s."
            raise Refusal(408, "too-slow", error, "Send it again, at once.") from None
        if body and _is_json(headers) and (fault := json_fault(body)):
            raise Refusal(400, "invalid-json", f"The body is not JSON that can be used: {fault}.")
        return body


async def _read(receive: Receive, most: int) -> bytes | None:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts += message.get("body", b"")
        if len(parts) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(parts)


def _too_large(most: int) -> Refusal:
    return Refusal(413, "too-large", f"A body may have {most:,} bytes; this one has more.", "Send less at once.")


def _closing(send: Send) -> Send:
    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return closing


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return the body once; after it what the connection itself says, which is that the other side has gone."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _is_json(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def json_fault(body: bytes) -> str:
    """Return what is wrong with a body as JSON, or nothing.

    >>> json_fault(b'{"a": 1, "a": 2}'), json_fault(b'[NaN]'), json_fault(b'{"lr": 0.1}')
    ("the key 'a' comes twice", 'NaN is no JSON number', '')
    """
    try:
        value = json.loads(
            body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
        )
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except RecursionError:
        return f"it is nested more than {MOST_NESTING} deep"
    except _Unusable as fault:
        return str(fault)
    except json.JSONDecodeError as error:
        return f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos}"
    except ValueError:
        return "it has an integer that is too long"
    return f"it is nested more than {MOST_NESTING} deep" if _is_deep(value) else ""


class _Unusable(Exception):
    """JSON that some readers take and others do not."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_KEYS:
        message = f"an object in it has more than {MOST_KEYS:,} keys"
        raise _Unusable(message)
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            message = f"the key {key[:50]!r} comes twice"
            raise _Unusable(message)
        found[key] = value
    return found


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON number"
    raise _Unusable(message)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        message = f"the number {text[:50]} is beyond what a double holds"
        raise _Unusable(message)
    return value


def _is_deep(value: Any) -> bool:
    layer = [value]
    for _ in range(MOST_NESTING + 1):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True
