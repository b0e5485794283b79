"""How many requests are answered at once: more wait outside, and are told so."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from cutaway.studio.answers.errors import Refusal, refuse

__all__ = ["MOST_REQUESTS", "BoundedCrowd"]

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
