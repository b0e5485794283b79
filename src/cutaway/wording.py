"""Counts and lists in words, as messages, findings and pages say them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

__all__ = ["chance_words", "counted", "listed", "number_between", "percent", "short_repr"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things.

    >>> counted(1, "run"), counted(12345, "step"), counted(0, "loss"), counted(2, "entry", "entries")
    ('1 run', '12,345 steps', '0 losses', '2 entries')
    """
    # An epoch is spoken with a k.
    hissed = noun.endswith(("ch", "ss")) and not noun.endswith("epoch")
    many = plural or noun + ("es" if hissed else "s")
    return f"{number:,} {noun if number == 1 else many}"


def percent(share: float) -> str:
    """Return a share in percent, with a decimal where it is small; never 0 % or 100 % for what is not quite that.

    >>> percent(0.0812), percent(0.5), percent(0.00001), percent(0.999)
    ('8.1 %', '50 %', 'under 0.1 %', 'over 99 %')
    """
    number = 100 * share
    if 0 < number < 0.1:
        return "under 0.1 %"
    if 99.5 <= number < 100:
        return "over 99 %"
    return f"{number:.1f} %" if 0 < number < 9.95 else f"{number:.0f} %"


def chance_words(p: float) -> str:
    """Return a p value as people write it; what is too small to be told apart from none is below a bound.

    >>> chance_words(0.0312), chance_words(0.4), chance_words(1e-30), chance_words(0.0), chance_words(1.0)
    ('p = 0.031', 'p = 0.4', 'p < 0.001', 'p < 0.001', 'p = 1')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def listed(items: Sequence[object], most: int = 4, rest: str = "more") -> str:
    """Return the first of some things, and how many more there are.

    >>> listed(["a", "b"]), listed(list("abcdef"), 3), listed(list("abcdef"), 3, "others")
    ('a, b', 'a, b, c and 3 more', 'a, b, c and 3 others')
    """
    shown = ", ".join(map(str, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most:,} {rest}"


def number_between(low: float, high: float, fits: Callable[[float], bool], otherwise: float) -> str:
    """Return the number with the fewest digits between two that fits.

    >>> number_between(1.96, 2.03, lambda number: 1.96 < number < 2.03, 2.03)
    '2'
    """
    middle = low / 2 + high / 2
    if math.isfinite(middle):
        for digits in range(1, 17):
            text = f"{middle:.{digits}g}"
            if fits(float(text)):
                return _unscientific(text)
    return repr(otherwise)


def _unscientific(text: str) -> str:
    number = float(text)
    plain = f"{number:.0f}"
    return plain if "e" in text and abs(number) < 1e15 and float(plain) == number else text


def short_repr(value: object, most: int = 60) -> str:
    """Return the `repr` of a value of any size, cut short for a message.

    >>> short_repr("a" * 100, 12)
    "'aaaaaaaa..."
    """
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."
