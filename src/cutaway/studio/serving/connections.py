"""A connection to the studio: bounded in number, and in the time for a request to come and an answer to be taken.

Everything about single requests is the guards'; here is what goes on before there is a request, and after its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import struct
import termios

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cutaway.studio.wire.base import ErrorAnswer

__all__ = ["HEADER_SECONDS", "MOST_CONNECTIONS", "BoundedConnection"]

MOST_CONNECTIONS = 500
HEADER_SECONDS = 10.0
# Whoever takes less of an answer in this time has gone, or never wanted it: it would be held until the system gives up.
READING_SECONDS, LEAST_READ = 30.0, 16 << 10


class BoundedConnection(H11Protocol):
    """Is closed when there are too many, when headers do not come whole in time, or an answer is not taken."""

    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

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
        self._forget_reading()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the other side, which takes less than is sent; not for ever."""
        super().pause_writing()
        self._forget_reading()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Go on: what was sent has been taken."""
        self._forget_reading()
        super().resume_writing()

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

    def _expect_reading(self) -> None:
        self._reading = self.loop.call_later(READING_SECONDS, self._look_at_reading, self._untaken())

    def _look_at_reading(self, before: int) -> None:
        if self._untaken() > before - LEAST_READ:
            self.transport.abort()
        else:
            self._expect_reading()

    def _untaken(self) -> int:
        """Return how many bytes wait here and in the system, which takes megabytes at a time from us."""
        here = self.transport.get_write_buffer_size()
        try:
            handle = self.transport.get_extra_info("socket").fileno()
            (there,) = struct.unpack("i", fcntl.ioctl(handle, termios.TIOCOUTQ, bytes(4)))
        except OSError:
            # Not every system says it of sockets.
            return here
        return here + int(there)

    def _forget_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
