"""Bodies are small, come in time, and are JSON to every reader."""

import asyncio
import json
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from cutaway.studio.guards.bounds import MOST_BYTES, MOST_NESTING, BoundedBodies, json_fault
from tests.unit.studio.asking import Answer, Inside, ask, scope_of


def sent(parts: Iterable[bytes], *headers: tuple[str, str], last: bool = True) -> tuple[Answer, Inside]:
    inside = Inside()
    whole = list(parts)
    messages: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in whole]
    if last:
        messages.append({"type": "http.request", "body": b"", "more_body": False})
    layer = BoundedBodies(inside, seconds=0.1)
    return ask(layer, scope_of("POST", headers=headers), messages), inside


CHUNKED = ("Transfer-Encoding", "chunked")
JSON = ("Content-Type", "application/json")


def test_a_body_in_parts_comes_through_whole() -> None:
    answer, inside = sent([b'{"a":', b" 1}"], CHUNKED, JSON)
    assert answer.status == 204
    assert inside.bodies == [b'{"a": 1}']


def test_a_body_of_the_largest_size_comes_through_and_one_byte_more_does_not() -> None:
    assert sent([b"x" * MOST_BYTES], CHUNKED)[0].status == 204
    answer, inside = sent([b"x" * MOST_BYTES, b"x"], CHUNKED)
    assert (answer.status, answer.error["code"]) == (413, "too-large")
    assert not inside.scopes
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("length", [str(MOST_BYTES + 1), "9" * 400])
def test_a_length_that_is_too_large_is_refused_before_a_byte_is_read(length: str) -> None:
    answer, inside = sent([], ("Content-Length", length), last=False)
    assert answer.status == 413
    assert not inside.scopes


def test_a_body_without_end_is_refused_at_its_bound() -> None:
    taken = 0

    def endless() -> Iterable[bytes]:
        nonlocal taken
        while taken < 100 * MOST_BYTES:
            taken += 65_536
            yield b"x" * 65_536

    messages = ({"type": "http.request", "body": part, "more_body": True} for part in endless())

    answer = Answer()

    async def receive() -> Message:
        return next(messages)

    async def send(message: Message) -> None:
        answer.messages.append(message)

    asyncio.run(BoundedBodies(Inside(), seconds=5)(scope_of("POST", headers=[CHUNKED]), receive, send))
    assert answer.status == 413
    assert taken <= MOST_BYTES + 2 * 65_536


def test_a_body_that_does_not_come_is_given_up() -> None:
    answer, inside = sent([b"{"], ("Content-Length", "10"), JSON, last=False)
    assert (answer.status, answer.error["code"]) == (408, "too-slow")
    assert not inside.scopes


def test_whoever_hangs_up_gets_no_answer() -> None:
    inside = Inside()
    layer = BoundedBodies(inside, seconds=1)
    answer = ask(layer, scope_of("POST", headers=[CHUNKED]), [{"type": "http.disconnect"}])
    assert (answer.messages, inside.scopes) == ([], [])


def test_a_request_without_a_body_is_not_touched() -> None:
    inside = Inside()
    assert ask(BoundedBodies(inside, seconds=0.01), scope_of("GET")).status == 204


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"[" * 100_000, "nested"),
        (b"[" * 100_000 + b"]" * 100_000, "nested"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested"),
        (b"[" * (MOST_NESTING + 2) + b"]" * (MOST_NESTING + 2), "nested"),
        (b"1e400", "beyond what a double holds"),
        (b"-1e400", "beyond what a double holds"),
        (b"[NaN]", "NaN is no JSON number"),
        (b"Infinity", "Infinity is no JSON number"),
        (b"-Infinity", "-Infinity is no JSON number"),
        (b'{"a": 1, "a": 1}', "comes twice"),
        (b'{"a": {"b": 1, "b": 2}}', "comes twice"),
        (json.dumps({str(i): i for i in range(60_000)}).encode(), "more than 1,000 keys"),
        (b"9" * 10_000, "too long"),
        (b"\xff\xfe", "UTF-8"),
        (b'{"a": 1', "at character"),
        (b"{'a': 1}", "at character"),
        (b"", "at character"),
    ],
)
def test_json_that_readers_differ_about_is_refused_at_once(body: bytes, fault: str) -> None:
    began = time.process_time()
    assert fault in json_fault(body)
    assert time.process_time() - began < 1
    assert len(json_fault(body)) < 200


def test_a_key_of_a_megabyte_is_read_quickly_and_told_shortly() -> None:
    key = "k" * 900_000
    assert json_fault(json.dumps({key: 1}).encode()) == ""
    fault = json_fault(f'{{"{key}": 1, "{key}": 2}}'.encode()[: 2 * MOST_BYTES])
    assert len(fault) < 200


nested = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(nested)
def test_what_json_writes_is_taken(value: object) -> None:
    assert json_fault(json.dumps(value).encode()) == ""
