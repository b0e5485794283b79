"""Ports, and servers that come and go without a trace."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cutaway.errors import ConfigurationError
from cutaway.run import Run, WriterId
from cutaway.studio.routes import live as live_routes
from cutaway.studio.serving import connections, server
from cutaway.studio.serving.app import Guards
from cutaway.studio.serving.server import Served, bind, serve_in_thread
from cutaway.studio.the_studio import Studio


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs" / "mnist")


@contextlib.contextmanager
def served(run: Run) -> Iterator[Served]:
    with serve_in_thread(Studio.open(run.path.parent)) as server:
        yield server


def stream(server: Served, topic: str, **headers: str) -> contextlib.AbstractContextManager[httpx.Response]:
    return httpx.stream("GET", f"{server.url}/api/live", params={"topic": topic}, headers=headers, timeout=20)


def test_a_taken_port_gives_the_next_free_one() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with bind("127.0.0.1", port) as second:
            assert port < second.getsockname()[1] <= port + server.PORTS_TRIED


def test_answers_do_not_wait_for_the_other_side_to_acknowledge_their_headers() -> None:
    with bind("127.0.0.1", 0) as listening:
        # What asyncio asks before it sends small packets at once.
        assert listening.proto == socket.IPPROTO_TCP


def test_when_all_are_taken_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PORTS_TRIED", 1)
    with bind("127.0.0.1", 0) as first, pytest.raises(ConfigurationError, match="`--port 0`"):
        bind("127.0.0.1", first.getsockname()[1])


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(ConfigurationError):
        bind(host, 0)


def test_a_server_in_a_thread_answers_and_leaves_nothing_behind(run: Run) -> None:
    before = threading.active_count()
    with served(run) as server:
        assert httpx.get(f"{server.url}/api/about").json()["data"]["folder"] == "runs"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/api/about")
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_a_change_comes_over_the_stream(run: Run) -> None:
    with served(run) as server:
        while not (rows := server.studio.index.table().rows):
            time.sleep(0.01)
        topic = f"run:{rows[0].id}"
        with stream(server, topic) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            assert next(lines).startswith("retry: ")
            written = {"name": ["loss"], "step": [0], "mode": ["TRAIN"], "value": [0.5], "time": [1.0]}
            run.writer("scalars", WriterId("train", "worker_0", 0)).append_rows(written, 0)
            said = next(line for line in lines if line.startswith("data: "))
    assert '"what":"scalars"' in said
    assert topic in said


def test_an_open_stream_does_not_hold_the_server(run: Run) -> None:
    ended = threading.Event()

    def listen(server: Served) -> None:
        with stream(server, "runs") as answer:
            for _ in answer.iter_lines():
                began.set()
        ended.set()

    began = threading.Event()
    with served(run) as server:
        threading.Thread(target=listen, args=(server,), daemon=True).start()
        assert began.wait(60)
    assert ended.wait(60)


def test_who_hangs_up_gives_its_place_back(run: Run) -> None:
    with served(run) as server:
        for _ in range(3):
            with stream(server, "runs") as answer:
                lines = answer.iter_lines()
                next(lines)
                assert len(server.studio.feed._listeners) >= 1
        deadline = time.monotonic() + 60
        while server.studio.feed._listeners and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not server.studio.feed._listeners


def test_a_silent_stream_says_that_it_is_still_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_routes, "HEARTBEAT_SECONDS", 0.05)
    with served(run) as server, stream(server, "runs") as answer:
        assert next(line for line in answer.iter_lines() if line.startswith(":"))


def test_a_cut_stream_that_comes_back_hears_what_it_missed(run: Run) -> None:
    with served(run) as server, stream(server, "runs", **{"Last-Event-ID": "another.7"}) as answer:
        assert '"listed"' in next(line for line in answer.iter_lines() if line.startswith("data: "))


def test_headers_that_do_not_come_are_not_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    with served(run) as server, socket.create_connection((server.host, server.port), timeout=10) as slow:
        with contextlib.suppress(OSError):
            for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaa":
                slow.send(bytes([byte]))
                time.sleep(0.02)
        with contextlib.suppress(ConnectionError):
            assert slow.recv(100) == b""


def test_a_second_request_over_one_connection_has_its_time_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    with served(run) as server, httpx.Client(base_url=server.url) as client:
        for _ in range(3):
            assert client.get("/api/about").status_code == 200
            time.sleep(0.35)


def test_what_is_no_request_is_told_so_in_the_one_shape(run: Run) -> None:
    with served(run) as server, socket.create_connection((server.host, server.port), timeout=10) as raw:
        raw.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"code":"bad-request"' in answer


def test_connections_are_bounded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    with served(run) as server:
        held = [socket.create_connection((server.host, server.port), timeout=10) for _ in range(12)]
        closed = 0
        for one in held:
            one.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                try:
                    closed += one.recv(1) == b""
                except ConnectionError:
                    closed += 1
        assert closed == 7
        for one in held:
            one.close()
        assert httpx.get(f"{server.url}/api/about").status_code == 200


def test_it_is_found_below_a_root_path(run: Run) -> None:
    guards = Guards(root_path="/studio")
    with serve_in_thread(Studio.open(run.path.parent), guards=guards) as server:
        assert httpx.get(f"{server.url}/studio/api/about").status_code == 200
        assert httpx.get(f"{server.url}/api/about").status_code == 200
        assert (
            '<a href="/studio/' in (page := httpx.get(f"{server.url}/studio/").text) or '<base href="/studio/"' in page
        )
