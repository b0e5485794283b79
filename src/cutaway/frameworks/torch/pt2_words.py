"""A small language for what a JSON document may hold: each word checks a value and returns it written anew.

What a document holds beside what is named is left out, so that only checked values go on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = [
    "Malformed", "Unsafe", "Word", "boolean", "fixed", "floating", "identifier", "integer", "listed", "mapped",
    "one_of", "optional", "record", "shown", "text", "union",
]  # fmt: skip

Word = Callable[[Any], Any]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,399}")
_LARGEST = 2**63
_NOT_NUMBERS = ("Infinity", "-Infinity", "NaN")


class Unsafe(ValueError):
    """What would run code, leave the archive or exhaust the machine."""


class Malformed(ValueError):
    """What is not as torch writes it."""


def shown(value: Any) -> str:
    """Return a value for a message, on one line and of bounded length.

    >>> shown("a" * 200)[-10:]
    "aaaaaa'..."
    """
    whole = repr(value if not isinstance(value, str) else value[:120])
    return whole if len(whole) <= 130 and (not isinstance(value, str) or len(value) <= 120) else f"{whole[:130]}..."


def record(**fields: Word) -> Word:
    """An object that has all of these fields, or those of them that are not `optional`."""

    def word(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Malformed(f"{shown(value)} stands where {', '.join(fields)} should")
        missing = [name for name in fields if name not in value and not hasattr(fields[name], "default")]
        if missing:
            raise Malformed(f"{missing[0]!r} is missing in {shown(value)}")
        return {name: check(value.get(name)) for name, check in fields.items()}

    return word


def union(kinds: Mapping[str, Word], what: str) -> Word:
    """An object of exactly one field, which says its kind."""

    def word(value: Any) -> Any:
        if not isinstance(value, dict) or len(value) != 1:
            raise Malformed(f"{shown(value)} is no {what}")
        ((kind, inner),) = value.items()
        if kind not in kinds:
            raise Unsafe(f"it has an {what} of the kind {shown(kind)}, which is not read")
        return {kind: kinds[kind](inner)}

    return word


def listed(item: Word, most: int = 1_000_000) -> Word:
    """A list."""

    def word(value: Any) -> Any:
        if not isinstance(value, list):
            raise Malformed(f"{shown(value)} is no list")
        if len(value) > most:
            raise Unsafe(f"it has a list of {len(value):,} where {most:,} are read")
        return [item(one) for one in value]

    return word


def mapped(key: Word, item: Word) -> Word:
    """An object with keys of its own."""

    def word(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Malformed(f"{shown(value)} is no object")
        return {key(name): item(one) for name, one in value.items()}

    return word


def optional(inner: Word) -> Word:
    """A value, or null or nothing."""

    def word(value: Any) -> Any:
        return None if value is None else inner(value)

    word.default = None  # type: ignore[attr-defined]
    return word


def fixed(value: Any) -> Word:
    """Whatever the document says, this value takes its place."""

    def word(_: Any) -> Any:
        return value

    word.default = value  # type: ignore[attr-defined]
    return word


def one_of(*allowed: Any) -> Word:
    """One of some values."""

    def word(value: Any) -> Any:
        if type(value) not in {type(one) for one in allowed} or value not in allowed:
            raise Unsafe(f"it says {shown(value)} where only {', '.join(map(str, allowed))} is read")
        return value

    return word


def identifier(value: Any) -> str:
    """A name that torch writes into the Python code it makes of a graph, and runs: letters, digits, underscores."""
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        raise Unsafe(f"it has a name that is no identifier, and torch would run it as code: {shown(value)}")
    return value


def integer(value: Any) -> int:
    """A whole number of 64 bits."""
    if type(value) is not int or not -_LARGEST <= value < _LARGEST:
        raise Malformed(f"{shown(value)} is no whole number of 64 bits")
    return value


def floating(value: Any) -> float | str:
    """A number; torch writes those that are not finite as text."""
    if value in _NOT_NUMBERS and isinstance(value, str):
        return value
    if type(value) not in (int, float) or not math.isfinite(value):
        raise Malformed(f"{shown(value)} is no number")
    return float(value)


def boolean(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Malformed(f"{shown(value)} is neither true nor false")
    return value


def text(value: Any) -> str:
    """A text of bounded length."""
    if not isinstance(value, str) or len(value) > 10_000:
        raise Malformed(f"{shown(value)} is no text of at most 10,000 characters")
    return value
