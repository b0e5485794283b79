"""Requests byte by byte, where a client library would put right what a test wants to be wrong."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cutaway.studio.serving.server import Served

__all__ = ["Raw", "ask", "read", "send"]


@dataclass(frozen=True)
class Raw:
    """An answer as it came; status 0 where there was none."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        return json.loads(self.body)


def send(served: Served, data: bytes) -> socket.socket:
    """Open a connection and send bytes over it."""
    connection = socket.create_connection((served.host, served.port), timeout=20)
    connection.sendall(data)
    return connection


def read(connection: socket.socket) -> Raw:
    """Read an answer until the other side closes."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    connection.close()
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    if not first:
        return Raw(0, {}, b"")
    pairs = (line.partition(":") for line in lines)
    return Raw(int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}, body)


def ask(
    served: Served,
    target: str,
    headers: Iterable[tuple[str, str]] | None = None,
    method: str = "GET",
    body: bytes = b"",
) -> Raw:
    """Ask with exactly these headers; without any, with an ordinary Host."""
    given = list(headers) if headers is not None else [("Host", f"localhost:{served.port}")]
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given), "Connection: close"]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return read(send(served, "\r\n".join([*lines, "", ""]).encode("latin-1") + body))
