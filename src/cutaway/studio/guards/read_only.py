"""A studio that is for looking only: whatever would change something is refused, letting a person in apart."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from cutaway.studio.answers.errors import Refusal, refuse
from cutaway.studio.guards.origins import SAFE_METHODS
from cutaway.studio.guards.routes import route_of

__all__ = ["ReadOnly"]

_ALLOWED = ("/api/login", "/api/logout")


class ReadOnly:
    """Refuses every change."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on where it only looks."""
        if scope["type"] == "http" and scope["method"] not in SAFE_METHODS and route_of(scope) not in _ALLOWED:
            error = "This studio is read-only: nothing is changed, no job and no model is started from here."
            hint = "Whoever serves it can start it without `--read-only`."
            await refuse(Refusal(403, "read-only", error, hint), scope, receive, send)
            return
        await self._app(scope, receive, send)
