"""Frames of JSON between two processes that need not trust each other."""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.engine.messages import LONGEST, BadMessage, Ended, Late, read_blocking, read_message, write_message

Pipe = tuple[int, int]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


def read(fd: int, seconds: float = 5.0) -> object:
    return read_message(fd, time.monotonic() + seconds, {}, lambda: True)


@given(st.dictionaries(st.text(), PLAIN, max_size=5))
def test_what_goes_in_comes_out(message: dict[str, object]) -> None:
    reading, writing = os.pipe()
    write_message(writing, message)
    write_message(writing, message)
    assert read(reading) == message
    assert read_blocking(reading) == message
    os.close(reading)
    os.close(writing)


def test_a_message_longer_than_the_pipe_passes(pipe: Pipe) -> None:
    os.set_blocking(pipe[1], False)
    message = {"text": "x" * 1_000_000}
    thread = threading.Thread(target=write_message, args=(pipe[1], message, time.monotonic() + 60))
    thread.start()
    assert read(pipe[0]) == message
    thread.join()


def test_nobody_waits_past_a_deadline(pipe: Pipe) -> None:
    with pytest.raises(Late):
        read(pipe[0], 0.05)
    os.set_blocking(pipe[1], False)
    with pytest.raises(Late):
        write_message(pipe[1], {"text": "x" * 1_000_000}, time.monotonic() + 0.05)


def test_bytes_that_trickle_do_not_move_the_deadline(pipe: Pipe) -> None:
    stop = threading.Event()

    def trickle() -> None:
        os.write(pipe[1], struct.pack("<I", 1_000_000))
        while not stop.wait(0.01):
            os.write(pipe[1], b" ")

    thread = threading.Thread(target=trickle)
    thread.start()
    with pytest.raises(Late):
        read(pipe[0], 0.2)
    stop.set()
    thread.join()


def test_the_end_of_the_other_side_is_noticed(pipe: Pipe) -> None:
    with pytest.raises(Ended):
        read_message(pipe[0], time.monotonic() + 60, {}, lambda: False)
    os.write(pipe[1], b"\x05\x00")
    os.close(pipe[1])
    with pytest.raises(Ended):
        read(pipe[0])


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("<I", LONGEST + 1),
        struct.pack("<I", 0),
        struct.pack("<I", 4) + b"\xff\xfe{}",
        struct.pack("<I", 5) + b"{'a'}",
        struct.pack("<I", 200_000) + b"[" * 200_000,
        struct.pack("<I", 9_000) + b"9" * 9_000,
    ],
)
def test_what_is_no_message_is_refused(pipe: Pipe, sent: bytes) -> None:
    thread = threading.Thread(target=os.write, args=(pipe[1], sent))
    thread.start()
    with pytest.raises(BadMessage):
        read(pipe[0])
    thread.join()


def test_what_is_printed_meanwhile_is_read_too(pipe: Pipe) -> None:
    printed, printing = os.pipe()
    got = []

    def keep() -> bool:
        got.append(os.read(printed, 100))
        return bool(got[-1])

    os.write(printing, b"hello")
    os.close(printing)
    write_message(pipe[1], {"a": 1})
    assert read_message(pipe[0], time.monotonic() + 60, {printed: keep}, lambda: True) == {"a": 1}
    os.close(printed)
    assert got[0] == b"hello"
