"""Anybody's texts as a report shows them: escaped, cut, and with what cannot be seen written out. Changes no data."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Any

import pyarrow as pa

from cutaway.analysis.figures.words import said

__all__ = ["MOST_TEXT", "cells", "html", "name", "prose", "visible", "word"]

# What a cell of a table, or a sentence out of a run, may have; what is longer is cut, and says so.
MOST_TEXT = 400
# They join letters and emoji, and turn nothing.
_JOINERS = "\u200c\u200d"
# Controls, marks that turn the line or that nobody sees, halves of pairs, private and unassigned characters, and
# separators of lines and paragraphs.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def visible(text: str, most: int = MOST_TEXT) -> str:
    r"""Return a text of which everything can be seen: a NUL as `\x00`, a mark that turns the line as `\u202e`.

    White space of any kind is one space. What is longer than `most` characters is cut, with its true length.

    >>> visible("a\x00b\nc\u202ed")
    'a\\x00b c\\u202ed'
    >>> visible("x" * 1000, 4)
    'xxxx… (1,000 characters)'
    """
    # Cut first: a cell of ten megabytes must not be looked at letter by letter.
    cut = text[:most]
    if not (cut.isascii() and cut.isprintable()):
        cut = "".join(map(_seen, cut))
    return cut if len(text) <= most else f"{cut}… ({len(text):,} characters)"


def _seen(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character in _JOINERS or unicodedata.category(character) not in _UNSEEN:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def html(text: str, most: int = MOST_TEXT) -> str:
    """Return a text as HTML that is nothing but text, inside an element or an attribute.

    >>> html("<img onerror=alert(1)>")
    '&lt;img onerror=alert(1)&gt;'
    """
    return escape(visible(text, most))


def prose(text: str, most: int = MOST_TEXT) -> str:
    """Return a sentence as HTML; what stands between backticks is code, as messages write it.

    >>> prose("Run `cutaway studio` & look."), prose("a lone ` stays")
    ('Run <code>cutaway studio</code> &amp; look.', 'a lone ` stays')
    """
    pieces = visible(text, most).split("`")
    if len(pieces) % 2 == 0:
        return html(text, most)
    return "".join(f"<code>{escape(one)}</code>" if place % 2 else escape(one) for place, one in enumerate(pieces))


def name(text: str, most: int) -> str:
    """Return a name as HTML, cut in its middle where it is long: both ends tell names apart.

    >>> name("run/camera-left/0001.png", 13)
    'run/ca…01.png'
    """
    if len(text) <= most:
        return html(text, most)
    end = (most - 1) // 2
    return escape(f"{visible(text[: most - 1 - end])}…{visible(text[len(text) - end :])}")


def word(value: Any, most: int = MOST_TEXT) -> str:
    """Return any value of a table as HTML.

    >>> word(True), word(0.12345), word(None), word("a<b")
    ('yes', '0.1235', 'none', 'a&lt;b')
    """
    if isinstance(value, str):
        return html(value, most)
    if value is None or isinstance(value, bool | int | float):
        return escape(said(value))
    return html(str(value), most)


def cells(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column; texts that are not UTF-8, as in a table made to harm, with their bytes written."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        plain = column.cast(pa.large_binary()).to_pylist()
        return [None if one is None else one.decode("utf-8", "backslashreplace") for one in plain]
