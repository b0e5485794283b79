"""Texts as figures show them: ids and labels are anybody's strings. Changes how they look, never what they are."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

__all__ = ["clean", "natural_order", "number", "said", "sentence", "short"]

# They turn the text around them, so that a line could read as another than it is.
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def clean(text: str) -> str:
    r"""Return a text without what cannot be shown: control characters, halves of pairs, marks that turn the line.

    >>> clean("a\x00b\nc")
    'a�b c'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if one in "\n\t\r" else "\N{REPLACEMENT CHARACTER}" if _bad(one) else one for one in text)


def _bad(character: str) -> bool:
    return character in TURNING or unicodedata.category(character) in ("Cc", "Cs")


def short(text: str, most: int) -> str:
    """Return a clean text of at most `most` characters, its middle left out: both ends tell paths apart.

    >>> short("train/images/0001.png", 13)
    'train/…01.png'
    """
    shown = clean(text)
    if len(shown) <= most:
        return shown
    end = (most - 1) // 2
    return f"{shown[: most - 1 - end]}…{shown[len(shown) - end :]}"


def number(value: Any) -> str:
    """Return a number with at most four digits that matter, or `none`.

    >>> number(0.123456), number(60000), number(None), number(1.5e-7)
    ('0.1235', '60,000', 'none', '1.5e-07')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def said(value: Any) -> str:
    """Return any value of a table in words.

    >>> said(True), said(0.5), said(None), said("a")
    ('yes', '0.5', 'none', 'a')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if value is None or isinstance(value, int | float) else clean(str(value))


def sentence(text: str) -> str:
    """Return a text as a sentence.

    >>> sentence("loss rises with age"), sentence("")
    ('Loss rises with age.', '')
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}" if text else ""


def natural_order(names: Iterable[str]) -> list[str]:
    """Return names in the order that people expect: whole numbers by size, before everything else.

    >>> natural_order(["10", "9", "cat"])
    ['9', '10', 'cat']
    """
    return sorted(names, key=lambda name: (0, int(name), name) if _is_whole(name) else (1, 0, name))


def _is_whole(name: str) -> bool:
    # No longer ones: to read a number of many digits takes long, and Python refuses the longest.
    return len(name) < 16 and name.isascii() and name.removeprefix("-").isdigit()
