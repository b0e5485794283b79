"""Cases 40 and 41: too much, too slow, without end, or not what it says: refused, quickly, in flat memory."""

import contextlib
import json
import resource
import socket
import sys
import threading
import time

import httpx
import pytest

from cutaway.studio.serving.server import Served
from tests.security.every_route import CHANGING, READING, Route
from tests.security.raw import read, send

MEGABYTE = 1 << 20


def head(served: Served, route: str, *lines: str) -> bytes:
    first = [f"POST {route} HTTP/1.1", f"Host: localhost:{served.port}", "Content-Type: application/json"]
    return "\r\n".join([*first, *lines, "", ""]).encode()


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)


@pytest.mark.parametrize("route", CHANGING, ids=str)
def test_a_body_that_is_too_large_is_refused_on_every_route(served: Served, run: str, route: Route) -> None:
    lines = [f"{route.method} {route.address(run)} HTTP/1.1", f"Host: localhost:{served.port}"]
    lines += ["Content-Type: application/json", f"Content-Length: {route.most_bytes + 1}", "", ""]
    # All of it would not go out: it is refused by its length, and the connection is closed.
    answer = read(send(served, "\r\n".join(lines).encode() + b" " * 1000))
    assert (answer.status, answer.error["code"]) == (413, "too-large")


@pytest.mark.parametrize("length", [str(10 * 1024**3), "9" * 30, str(MEGABYTE + 1)])
def test_a_length_that_is_too_large_is_refused_before_its_body_comes(served: Served, length: str) -> None:
    # One with more digits than any length has is no length at all.
    assert read(send(served, head(served, "/api/login", f"Content-Length: {length}"))).status in (413, 400)


@pytest.mark.parametrize("length", ["-1", "x", "1, 2", "1\r\nContent-Length: 2", "0x10", "+5"])
def test_a_length_that_is_none_is_refused(served: Served, length: str) -> None:
    assert read(send(served, head(served, "/api/login", f"Content-Length: {length}") + b"{}")).status == 400


def test_a_length_beside_chunks_is_no_second_request(served: Served) -> None:
    smuggled = b"0\r\n\r\nGET /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    lines = (f"Content-Length: {len(smuggled)}", "Transfer-Encoding: chunked", "Connection: close")
    answer = read(send(served, head(served, "/api/logout", *lines) + smuggled))
    assert answer.status in (400, 204)
    assert b"HTTP/1.1" not in answer.body


def test_a_body_that_is_shorter_than_it_says_is_given_up(served: Served) -> None:
    answer = read(send(served, head(served, "/api/login", "Content-Length: 100") + b'{"token"'))
    assert (answer.status, answer.error["code"]) == (408, "too-slow")
    assert answer.headers["connection"] == "close"


def test_a_byte_now_and_then_is_given_up_too(served: Served) -> None:
    connection = send(served, head(served, "/api/login", "Content-Length: 10000"))
    with contextlib.suppress(OSError):
        for _ in range(100):
            connection.send(b" ")
            time.sleep(0.02)
    # It may have been reset by then, as nobody reads what comes late.
    assert read(connection).status in (408, 0)


def test_chunks_without_end_are_refused_in_flat_memory(served: Served) -> None:
    before = peak_megabytes()
    connection = send(served, head(served, "/api/login", "Transfer-Encoding: chunked"))
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    sent = 0
    with contextlib.suppress(OSError):
        while sent < 300:
            connection.sendall(chunk)
            sent += 1
    assert sent < 300
    assert peak_megabytes() - before < 60
    assert read(connection).status in (413, 0)


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"-5\r\nabc\r\n", b"FFFFFFFFFFFFFFFFFF\r\nx", b"5\r\nabc"])
def test_chunks_that_are_none_do_not_hold_a_place(served: Served, chunk: bytes) -> None:
    answer = read(send(served, head(served, "/api/login", "Transfer-Encoding: chunked") + chunk))
    assert answer.status in (400, 408, 413)


def test_headers_without_end_are_refused(served: Served) -> None:
    connection = send(served, f"GET / HTTP/1.1\r\nHost: localhost:{served.port}\r\n".encode())
    with contextlib.suppress(OSError):
        for i in range(3000):
            connection.sendall(f"X-Header-{i}: {'x' * 100}\r\n".encode())
    assert read(connection).status in (400, 0)


def test_many_at_once_are_bounded_and_others_are_answered_after(served: Served) -> None:
    held: list[socket.socket] = []
    for _ in range(600):
        try:
            held.append(send(served, b"GET / HTTP/1.1\r\nHost: localhost\r\n"))
        except OSError:
            continue
    assert len([one for one in threading.enumerate() if one.name.startswith("cutaway-studio")]) < 10
    for one in held:
        one.close()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{served.url}/api/about").status_code == 200:
                break
    else:
        pytest.fail("It does not answer any more.")


BOMBS = {
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and closed": b"[" * 100_000 + b"]" * 100_000,
    "a number beyond": b'{"token": 1e400}',
    "NaN": b'{"token": NaN}',
    "Infinity": b'{"arguments": {"lr": Infinity}, "action": "set"}',
    "twice": b'{"token": "a", "token": "b"}',
    "a long key": b'{"' + b"k" * 1_000_000 + b'": 1}',
    "a long number": b'{"token": ' + b"9" * 100_000 + b"}",
    "no object": b"[]",
    "null": b"null",
    "a text": b'"x"',
    "nothing": b"",
    "half": b'{"token":',
    "not UTF-8": b'{"token": "\xff"}',
    "lone surrogate": b'{"token": "\\ud800", "note": "\\ud800", "action": "\\ud800"}',
    "UTF-16": '{"token": "x"}'.encode("utf-16"),
    "many keys": json.dumps({f"k{i}": i for i in range(60_000)}).encode(),
}


@pytest.mark.parametrize("route", [route for route in CHANGING if route.path != "/api/logout"], ids=str)
@pytest.mark.parametrize("name", BOMBS)
def test_json_bombs_are_400_on_every_route(client: httpx.Client, run: str, route: Route, name: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.request(route.method, route.address(run), content=BOMBS[name], headers=headers)
    # A route that takes no object reads none: it may answer about what is in its address instead.
    assert answer.status_code == 400 if route.takes_json else 400 <= answer.status_code < 500, answer.text
    assert answer.json()["ok"] is False
    assert len(answer.content) < 2000


NUMBERS = ("-1", "9" * 4000, "1e400", "NaN", "0x10", "1;2")


@pytest.mark.parametrize("route", READING, ids=str)
def test_numbers_out_of_all_bounds_are_400_on_every_route(client: httpx.Client, run: str, route: Route) -> None:
    bounded = ("offset", "limit", "points", "columns", "bins", "step", "from", "to")
    whole = client.get("/api/openapi.json").json()["paths"].get(route.path, {}).get("get", {})
    numbers = [
        one["name"]
        for one in whole.get("parameters", [])
        if one["in"] == "query" and one["name"] in bounded and "array" not in json.dumps(one["schema"])
    ]
    address = route.address(run)
    for name in numbers:
        for value in NUMBERS:
            answer = client.get(f"{address}{'&' if '?' in address else '?'}{name}={value}")
            assert answer.status_code == 400, (name, value, answer.text)
            assert len(answer.content) < 2000
