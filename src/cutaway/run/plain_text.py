"""Text that anybody may have written, made safe to pass on: bounded, without what steers a screen or breaks JSON."""

from __future__ import annotations

import unicodedata

__all__ = ["plain_text"]

# They turn the direction of what follows, so that a name reads as another one.
_TURNING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")


def plain_text(text: str, most: int, *, lines: bool = False) -> str:
    """Return a text with at most `most` characters: one line, or with `lines` several.

    Control characters become spaces, halves of characters a question mark in a diamond; marks that turn the direction
    of writing are left out. What is longer ends with an ellipsis.

    >>> plain_text("a\\x1b[31m\\nb", 100), plain_text("a\\nb", 100, lines=True), plain_text("abcdef", 4)
    ('a [31m b', 'a\\nb', 'abc…')
    """
    # Cut first, generously: cleaning a text of a gigabyte takes long.
    text = text[: 4 * most + 16]
    if not text.isprintable() or not _TURNING.isdisjoint(text):
        text = (
            "".join(map(_plain_character, text))
            if not lines
            else "".join(c if c in "\n\t" else _plain_character(c) for c in text)
        )
    text = text.strip() if lines else " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain_character(char: str) -> str:
    if char in _TURNING:
        return ""
    category = unicodedata.category(char)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return " " if category == "Cc" or char in "\u2028\u2029" else char
