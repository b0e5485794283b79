"""What goes between a model's process and its parent: JSON with its length in front. Nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Callable
from typing import Any

__all__ = ["BadMessage", "Ended", "Late", "read_blocking", "read_message", "write_message"]

_LENGTH = struct.Struct("<I")
# The description of a model with 100,000 layers takes some 15 MB.
LONGEST = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
# How long to wait at most before looking at whether the other side still lives.
_SLICE_SECONDS = 0.5


class Ended(Exception):
    """The other side closed its end."""


class Late(Exception):
    """The deadline passed."""


class BadMessage(Exception):
    """Bytes that are no message of ours."""


def pack(message: dict[str, Any]) -> bytes:
    """Return a message as bytes; what JSON has no word for goes as text."""
    body = json.dumps(message, default=str).encode()
    if len(body) > LONGEST:
        raise BadMessage(f"a message of {len(body):,} bytes is longer than {LONGEST:,}.")
    return _LENGTH.pack(len(body)) + body


def write_message(fd: int, message: dict[str, Any], deadline: float | None = None) -> None:
    """Write a message. With a deadline, to a descriptor that does not block; raises `Late` or `Ended`."""
    rest = memoryview(pack(message))
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    while rest:
        if deadline is not None and not poll.poll(_milliseconds(deadline)):
            if time.monotonic() >= deadline:
                raise Late
            continue
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            continue
        except BrokenPipeError as error:
            raise Ended from error


def read_message(fd: int, deadline: float, others: dict[int, Callable[[], bool]], lives: Callable[[], bool]) -> Any:
    """Read a message before a deadline. Meanwhile the descriptors in `others` are read as well, until they say no.

    Raises `Late`, `Ended` where the other side closed or no longer lives, and `BadMessage`.
    """
    poll = select.poll()
    for one in (fd, *others):
        poll.register(one, select.POLLIN)
    got, wanted = bytearray(), -1
    while wanted < 0 or len(got) < wanted:
        ready = [one for one, _ in poll.poll(_milliseconds(deadline))]
        for one in ready:
            if one != fd and not others[one]():
                poll.unregister(one)
        if fd in ready:
            need = _LENGTH.size if wanted < 0 else wanted
            got += _read_some(fd, need - len(got))
            if wanted < 0 and len(got) == _LENGTH.size:
                wanted = _checked_length(bytes(got))
                got = bytearray()
        elif not ready and not lives():
            raise Ended
        # Also where bytes keep coming: one a second is no answer either.
        if time.monotonic() >= deadline and len(got) != wanted:
            raise Late
    return _parsed(bytes(got))


def read_blocking(fd: int) -> Any:
    """Read a message from the parent, however long that takes. Raises `Ended`."""
    length = _checked_length(_read_whole(fd, _LENGTH.size))
    return _parsed(_read_whole(fd, length))


def _milliseconds(deadline: float) -> int:
    return int(1000 * min(max(deadline - time.monotonic(), 0.0), _SLICE_SECONDS)) + 1


def _read_some(fd: int, length: int) -> bytes:
    got = os.read(fd, min(length, _CHUNK))
    if not got:
        raise Ended
    return got


def _read_whole(fd: int, length: int) -> bytes:
    got = bytearray()
    while len(got) < length:
        got += _read_some(fd, length - len(got))
    return bytes(got)


def _checked_length(head: bytes) -> int:
    length = int(_LENGTH.unpack(head)[0])
    if not 2 <= length <= LONGEST:
        raise BadMessage(f"it announced a message of {length:,} bytes.")
    return length


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    # RecursionError: brackets a hundred thousand deep.
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"it sent what is no JSON: {error}.") from error
