"""What was shown beside what is true: every number that was compared, and which of them are wrong.

A number agrees where it is what its definition gives, rounded to the digits that are displayed. One that stands on no
page where it should is wrong, too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["EXACT", "NOTHING", "Decimals", "Entry", "Figures", "Ledger", "agrees", "number_of", "numbers_in"]

MINUS, NOTHING = "\u2212", "\u2013"
"""What the page writes for a minus, and where there is no value."""
# Networks compute in single precision, and sum in another order than numpy does.
NOISE = 2e-6
_GAPS = "[ \u00a0\u2009\u202f,]"
_NUMBER = re.compile(rf"[-+{MINUS}]?(?:\d{{1,3}}(?:{_GAPS}\d{{3}})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+{MINUS}]?\d+)?|NaN|∞")


@dataclass(frozen=True)
class Figures:
    """Rounded to so many significant digits; `slack` is what single precision may add."""

    digits: int
    slack: float = 0.0

    def reach(self, true: float) -> float:
        """Return how far a shown number may be from the true one."""
        if true == 0:
            return self.slack + NOISE
        return 0.5 * 10.0 ** (math.floor(math.log10(abs(true))) - self.digits + 1) + NOISE * abs(true) + self.slack


@dataclass(frozen=True)
class Decimals:
    """Rounded to so many digits after the point."""

    digits: int
    slack: float = 0.0

    def reach(self, true: float) -> float:
        """Return how far a shown number may be from the true one."""
        return 0.5 * 10.0**-self.digits + NOISE * abs(true) + self.slack


EXACT = Decimals(9)
"""As it is: for counts."""


def number_of(text: str) -> float | None:
    """Return the number that a text is or begins with, None where it has none; gaps between thousands are read over.

    >>> number_of("12 000"), number_of("12,000"), number_of("-0.25 %"), number_of("1.2e-5"), number_of("none")
    (12000.0, 12000.0, -0.25, 1.2e-05, None)
    """
    found = _NUMBER.search(text)
    return None if found is None else _read(found[0])


def numbers_in(text: str) -> list[float]:
    """Return all numbers of a text in their order.

    >>> numbers_in("97.5 % right, 1 250 wrong")
    [97.5, 1250.0]
    """
    return [_read(found) for found in _NUMBER.findall(text)]


def _read(text: str) -> float:
    plain = re.sub(_GAPS, "", text).replace(MINUS, "-").replace("∞", "inf")
    return float(plain)


def agrees(shown: float | None, true: float | None, rounding: Figures | Decimals) -> bool:
    """Return whether a shown number is the true one, rounded; None and NaN stand for none."""
    nothing = [one is None or math.isnan(one) for one in (shown, true)]
    if any(nothing):
        return all(nothing)
    assert shown is not None
    assert true is not None
    return abs(shown - true) <= rounding.reach(true) * (1 + 1e-9)


@dataclass(frozen=True)
class Entry:
    """One number that was compared."""

    what: str
    where: str
    shown: str
    true: str
    right: bool


@dataclass
class Ledger:
    """All that was compared. `tampered` makes the expectations whose name has this text wrong, to see that it shows.

    `about` stands before every name.
    """

    tampered: str = ""
    entries: list[Entry] = field(default_factory=list)
    about: str = ""

    def number(
        self,
        what: str,
        where: str,
        shown: str | float | None,
        true: float | None,
        rounding: Figures | Decimals = EXACT,
    ) -> None:
        """Compare a number; a text is read up to its first number, and None is one that stands nowhere."""
        value = number_of(shown) if isinstance(shown, str) else shown
        if self._is_tampered(what) and true is not None:
            true = 1.02 * true + 0.5
        right = shown is not None and agrees(value, true, rounding)
        self._note(what, where, "not found" if shown is None else str(shown), _said(true), right=right)

    def text(self, what: str, where: str, shown: str | None, true: str) -> None:
        """Compare a word."""
        wanted = f"{true}, tampered" if self._is_tampered(what) else true
        self._note(what, where, "not found" if shown is None else shown, wanted, right=shown == wanted)

    def series(
        self,
        what: str,
        where: str,
        shown: Sequence[float | str | None],
        true: Sequence[float],
        rounding: Figures | Decimals = EXACT,
    ) -> None:
        """Compare a series of numbers, each on its own, after how many there are."""
        self.number(f"{what}, how many", where, len(shown), len(true))
        for place, (one, other) in enumerate(zip(shown, true, strict=False)):
            self.number(f"{what} [{place}]", where, one, other, rounding)

    def says(self, what: str, where: str, text: str | None, *parts: str) -> None:
        """Compare the figures of a sentence: all parts stand in it, in this order."""
        wanted = [*parts, "tampered"] if self._is_tampered(what) else list(parts)
        place, right = 0, text is not None
        for part in wanted:
            found = -1 if text is None else text.find(part, place)
            right, place = right and found >= 0, max(found, 0) + len(part)
        self._note(what, where, "not found" if text is None else text, " … ".join(wanted), right=right)

    @property
    def wrong(self) -> list[Entry]:
        """What was shown and is not true."""
        return [one for one in self.entries if not one.right]

    def report(self, *, everything: bool) -> Iterable[str]:
        """Yield the lines of a table: all that was compared or what is wrong of it, and how much that is by place."""
        shown = self.entries if everything else self.wrong
        if shown:
            widths = [min(58, max(len(one.what) for one in shown)), min(46, max(len(one.where) for one in shown))]
            yield f"{'number':{widths[0]}}  {'where':{widths[1]}}  {'shown':>16}  {'numpy':>16}"
            for one in shown:
                mark = "ok" if one.right else "WRONG"
                yield f"{one.what:{widths[0]}}  {one.where:{widths[1]}}  {one.shown:>16}  {one.true:>16}  {mark}"
            yield ""
        for place, count in sorted(Counter(one.where for one in self.entries).items()):
            bad = sum(one.where == place for one in self.wrong)
            yield f"{count:7,}  {place}{f', {bad:,} WRONG' if bad else ''}"
        yield f"{len(self.entries):7,}  numbers compared, {len(self.wrong):,} wrong"

    def _is_tampered(self, what: str) -> bool:
        return bool(self.tampered) and self.tampered in f"{self.about}{what}"

    def _note(self, what: str, where: str, shown: str, true: str, *, right: bool) -> None:
        self.entries.append(Entry(f"{self.about}{what}", where, shown, true, right))


def _said(true: float | None) -> str:
    if true is None or math.isnan(true):
        return "none"
    return f"{true:,.0f}" if float(true).is_integer() else f"{true:.9g}"
