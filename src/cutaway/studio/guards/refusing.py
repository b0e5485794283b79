"""The shape of a guard that refuses some requests, and the plainest one: a studio that is for looking only."""

from __future__ import annotations

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Receive, Scope, Send

from cutaway.studio.answers.errors import Refusal, refuse
from cutaway.studio.guards.routes import route_of

__all__ = ["SAFE_METHODS", "ReadOnly", "Refusing"]

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_ALLOWED = ("/api/login", "/api/logout")


class Refusing(ABC):
    """A layer that passes on what it has no reason to refuse."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        refusal = None if scope["type"] == "lifespan" else self._refusal(scope)
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    @abstractmethod
    def _refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request, or a WebSocket that is asked for, is refused; None where it is not."""


class ReadOnly(Refusing):
    """Refuses every change, letting a person in apart."""

    def _refusal(self, scope: Scope) -> Refusal | None:
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS or route_of(scope) in _ALLOWED:
            return None
        error = "This studio is read-only: nothing is changed, no job and no model is started from here."
        return Refusal(403, "read-only", error, "Whoever serves it can start it without `--read-only`.")
