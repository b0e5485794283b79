"""Listening: which port, how connections are bounded, and how a server ends at once although streams are open.

Knows sockets and uvicorn, and nothing of what is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from cutaway.errors import ConfigurationError
from cutaway.studio.serving.app import Guards, create_app
from cutaway.studio.serving.connections import BoundedConnection
from cutaway.studio.serving.page import Bundle
from cutaway.studio.the_studio import Studio

__all__ = ["Served", "bind", "serve", "serve_in_thread"]

PORTS_TRIED = 50
KEEP_ALIVE_SECONDS = 30
MOST_HEADER_BYTES = 64 * 1024
# What is being answered when the server is told to end has so long.
LAST_SECONDS = 0.3


def bind(host: str, port: int) -> socket.socket:
    """Return a socket bound to a port of a host; where that is taken, to the next free one. Port 0 is any."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        message = f"`--host {host}` is no address of this machine: {error.strerror or error}."
        raise ConfigurationError(message, hint="Leave it out for loopback.") from error
    for candidate in range(port, min(port + PORTS_TRIED, 65_536)):
        # The protocol is named: without it asyncio leaves Nagle's algorithm on, and each answer waits 40 ms.
        found = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        # Else a port stays taken for a minute after its last server ended.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((address[0], candidate, *address[2:]))
            found.listen(128)
        except OSError as error:
            found.close()
            if error.errno == errno.EADDRINUSE and port:
                continue
            message = f"Cannot listen on {host} port {candidate}: {error.strerror or error}."
            raise ConfigurationError(message, hint="Give another `--port`.") from error
        return found
    message = f"Ports {port} to {candidate} of {host} are all taken."
    raise ConfigurationError(message, hint="Give another `--port`, or `--port 0` for any.")


class _Server(uvicorn.Server):
    """A server that ends at once: streams are ended first, and who has not sent a whole request by then is cut off."""

    def __init__(self, config: uvicorn.Config, studio: Studio) -> None:
        super().__init__(config)
        self._studio = studio

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._studio.close()
        asyncio.get_running_loop().call_later(LAST_SECONDS, self._cut_off)
        await super().shutdown(sockets)

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            if isinstance(connection, BoundedConnection):
                connection.transport.abort()


def _server(app: FastAPI, studio: Studio) -> _Server:
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        # What fails in a request is logged by us, with its id; left is only that an end cut something off.
        log_level="critical",
        access_log=False,
        server_header=False,
        # Headers of a proxy are never taken for the truth.
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )
    return _Server(config, studio)


def serve(app: FastAPI, studio: Studio, listening: socket.socket) -> None:
    """Serve until an interrupt, which is raised again as `KeyboardInterrupt` once everything has ended."""
    _server(app, studio).run(sockets=[listening])


@dataclass(frozen=True)
class Served:
    """A studio that is being served in a thread of this process."""

    studio: Studio
    app: FastAPI
    host: str
    port: int

    @property
    def url(self) -> str:
        """Where its page is, without a slash at the end."""
        return f"http://{self.host}:{self.port}"


@contextlib.contextmanager
def serve_in_thread(
    studio: Studio, *, guards: Guards | None = None, bundle: Bundle | None = None, port: int = 0
) -> Iterator[Served]:
    """Serve a studio on loopback while the block runs, for programs and tests; any free port unless one is given.

    The studio is closed at the end.
    """
    app = create_app(studio, guards=guards, bundle=bundle)
    listening = bind("127.0.0.1", port)
    server = _server(app, studio)
    told = {"sockets": [listening]}
    thread = threading.Thread(target=server.run, kwargs=told, name="cutaway-studio", daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            thread.join(0.005)
        yield Served(studio, app, "127.0.0.1", listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(10)
