"""What every answer says about itself to a browser, and the id that every request gets.

The outermost layer: an answer that does not pass through here does not exist.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutaway.studio.guards.routes import is_api

__all__ = ["CONTENT_SECURITY_POLICY", "SafeHeaders"]

# No inline script or style, nothing from elsewhere, no frame around it.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        # What a visualizer returned as sound is played from the page's own memory.
        "media-src 'self' blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_ALWAYS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SafeHeaders:
    """Gives each request an id, and each answer that id and the headers that keep a browser safe."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with an id."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # Of several policies all hold: what a handler says, as for a picture, can only make it stricter.
                own = headers.get("Content-Security-Policy")
                for name, value in _ALWAYS.items():
                    headers[name] = value
                if own is not None:
                    headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}, {own}"
                headers["X-Request-Id"] = request
                if is_api(scope):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, with_headers)
