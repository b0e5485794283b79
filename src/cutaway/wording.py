"""Counts and lists in words, as messages, findings and pages say them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "listed", "short_repr"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things.

    >>> counted(1, "run"), counted(12345, "step"), counted(0, "loss"), counted(2, "entry", "entries")
    ('1 run', '12,345 steps', '0 losses', '2 entries')
    """
    # An epoch is spoken with a k.
    hissed = noun.endswith(("ch", "ss")) and not noun.endswith("epoch")
    many = plural or noun + ("es" if hissed else "s")
    return f"{number:,} {noun if number == 1 else many}"


def listed(items: Sequence[object], most: int = 4, rest: str = "more") -> str:
    """Return the first of some things, and how many more there are.

    >>> listed(["a", "b"]), listed(list("abcdef"), 3), listed(list("abcdef"), 3, "others")
    ('a, b', 'a, b, c and 3 more', 'a, b, c and 3 others')
    """
    shown = ", ".join(map(str, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most:,} {rest}"


def short_repr(value: object, most: int = 60) -> str:
    """Return the `repr` of a value of any size, cut short for a message.

    >>> short_repr("a" * 100, 12)
    "'aaaaaaaa..."
    """
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."
