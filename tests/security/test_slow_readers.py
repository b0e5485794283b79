"""Those who ask and do not take the answer: it is not held for ever; those who take it slowly get all of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cutaway.studio.serving import connections
from cutaway.studio.serving.page import Bundle
from cutaway.studio.serving.server import Served, serve_in_thread
from cutaway.studio.the_studio import Studio

# More than the buffers of both sides hold.
LARGE = 12 << 20


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A studio that gives up on readers soon, with a large file to read."""
    monkeypatch.setattr(connections, "READING_SECONDS", 0.5)
    (tmp_path / "static" / "assets").mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text("<!doctype html>")
    (tmp_path / "static" / "assets" / "large-abc.js").write_bytes(bytes(LARGE))
    with serve_in_thread(Studio.open(tmp_path / "runs"), bundle=Bundle.load(tmp_path / "static")) as served:
        yield served


def _ask(served: Served, buffer: int = 4096) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(20)
    connection.connect((served.host, served.port))
    connection.sendall(
        f"GET /assets/large-abc.js HTTP/1.1\r\nHost: {served.host}\r\nConnection: close\r\n\r\n".encode()
    )
    return connection


def _read(connection: socket.socket, pause: float = 0.0) -> tuple[int, int]:
    """How many bytes came, and in how many parts."""
    count = parts = 0
    try:
        while part := connection.recv(1 << 20):
            count += len(part)
            parts += 1
            time.sleep(pause)
    except ConnectionError:
        pass
    connection.close()
    return count, parts


def test_an_answer_that_nobody_takes_is_let_go(large: Served) -> None:
    idle = [_ask(large) for _ in range(5)]
    time.sleep(3)
    assert all(_read(one)[0] < LARGE for one in idle)
    assert httpx.get(f"{large.url}/api/about").status_code == 200


def test_an_answer_that_is_taken_slowly_comes_whole(large: Served) -> None:
    connection = _ask(large, buffer=1 << 16)
    count, parts = _read(connection, pause=0.005)
    assert count > LARGE
    assert parts * 0.005 > 0.5, "it was read for longer than an answer that nobody takes is kept"
