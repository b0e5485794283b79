"""A connection to the studio: bounded in number, and in the time that a request may take to come.

Everything about single requests is the guards'; here is what goes on before there is a request.
"""

from __future__ import annotations

import asyncio
import contextlib

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cutaway.studio.wire import ErrorAnswer

__all__ = ["HEADER_SECONDS", "MOST_CONNECTIONS", "BoundedConnection"]

MOST_CONNECTIONS = 500
HEADER_SECONDS = 10.0


class BoundedConnection(H11Protocol):
    """Is closed when there are too many, or when the headers of its next request do not come whole in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Take bytes; where they do not complete the headers, the time goes on."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._expect_headers()
        else:
            self._forget_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self._forget_deadline()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # uvicorn's words are not ours
        """Answer what is no HTTP request in the one shape of errors."""
        hint = "Send a request in HTTP/1.1, with less than 64 kB of headers."
        answer = ErrorAnswer(error="This is no HTTP request.", code="bad-request", hint=hint, status=400, request="")
        body = answer.model_dump_json().encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("X-Content-Type-Options", "nosniff"),
            ("Connection", "close"),
        ]
        # Where an answer is on its way already, there is no place for another.
        with contextlib.suppress(h11.LocalProtocolError):
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect_headers(self) -> None:
        # Not set anew by each byte: a header that trickles in is as late as one that never comes.
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
