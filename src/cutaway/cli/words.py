"""Numbers, sizes, times and lists as short words for a terminal. Pure functions: the clock is an argument."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

__all__ = ["age", "cut", "damage_in_words", "number", "printable", "seconds_since", "share", "shorten", "size"]

_STEPS = ((60.0, "s"), (60.0, "min"), (24.0, "h"), (365.0, "d"))


def number(value: float | None) -> str:
    """Write a number in at most 9 characters, with three or four digits that count.

    >>> number(0.12345), number(123456.0), number(-1.5e-07), number(float("nan")), number(None)
    ('0.1235', '1.235e5', '-1.5e-7', 'NaN', '·')
    """
    if value is None:
        return "·"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}inf"
    if value == 0:
        return "0"
    if value == int(value) and abs(value) < 1e5:
        return str(int(value))
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    digits, _, power = f"{value:.3e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"


def share(part: float, whole: float) -> str:
    """Write a share in percent, without rounding something to nothing or a part to all.

    >>> share(0, 5), share(1, 100000), share(1, 3), share(99999, 100000), share(5, 5), share(0, 0)
    ('0 %', '<0.1 %', '33 %', '>99 %', '100 %', '·')
    """
    if whole <= 0:
        return "·"
    if part <= 0 or part >= whole:
        return "0 %" if part <= 0 else "100 %"
    percent = 100 * part / whole
    if percent < 0.1:
        return "<0.1 %"
    if percent >= 99.5:
        return ">99 %"
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"


def size(number_of_bytes: float) -> str:
    """Write bytes in the unit that fits.

    >>> size(0), size(2048), size(5 * 10**9)
    ('0 B', '2.0 kB', '5.0 GB')
    """
    value = float(number_of_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def age(seconds: float) -> str:
    """Write how long ago something was, in one unit.

    >>> age(3), age(90), age(7200), age(200000)
    ('3 s', '1 min', '2 h', '2 d')
    """
    value = max(seconds, 0.0)
    for limit, unit in _STEPS:
        if value < limit:
            return f"{int(value)} {unit}"
        value /= limit
    return f"{value:.1f} y"


def seconds_since(created: object, now: datetime) -> float | None:
    """Return the seconds since an ISO time, or None where the text is none."""
    try:
        return (now - datetime.fromisoformat(str(created))).total_seconds()
    except (ValueError, TypeError):
        return None


def shorten(text: str, width: int) -> str:
    """Cut the middle out of a long name: both its ends tell names apart.

    >>> shorten("gradient/Net_conv1.weight", 15)
    'gradien….weight'
    """
    if len(text) <= width:
        return text
    if width <= 1:
        return text[:width]
    kept = width - 1
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def damage_in_words(one: Mapping[str, Any]) -> str:
    """Say where bytes of a run are damaged, and how."""
    step = "" if one["step"] is None else f", step {one['step']}"
    return f"{one['path']} at byte {one['offset']}{step}: {one['reason']}"


def cut(text: str, most: int) -> str:
    """Return a text that a terminal can show, cut before it is looked at letter by letter."""
    return printable(text if len(text) <= most else f"{text[: most - 1]}…")


def printable(text: str) -> str:
    """Replace what could steer a terminal: names come out of files that anybody may have written.

    >>> printable("a\\x1b[31m\\nb")
    'a�[31m b'
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else "�" for char in text)
