"""Figures, lists and conditions as people read them. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from cutaway.wording import percent

__all__ = ["change", "figures", "instead", "listed", "named", "times", "told"]

# Below this share a change takes two decimals to be seen.
FINE = 0.05
# A change of less than this share of what there was is none that is worth a word.
MEANINGFUL = 0.02


def figures(*numbers: float) -> list[str]:
    """Return numbers in so few digits that they still differ."""
    for digits in (3, 5, 8):
        texts = [_figure(number, digits) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    return texts


def _figure(number: float, digits: int) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 and digits == 3 else f"{number:.{digits}g}"


def told(measure: str, *numbers: float) -> list[str]:
    """Return values of a measure, in percent where they are shares, in so few digits that they still differ.

    >>> told("error", 0.191, 0.194), told("error", 0.19, 0.19), told("error", 0.36, 0.18)
    (['19.1 %', '19.4 %'], ['19 %', '19 %'], ['36 %', '18 %'])
    """
    if measure == "loss":
        return figures(*numbers)
    texts = [percent(number) for number in numbers]
    for digits in (1, 2, 3):
        if len(set(texts)) == len(set(numbers)):
            break
        texts = [f"{100 * number:.{digits}f} %" for number in numbers]
    return texts


def instead(before: float, after: float) -> bool:
    """Whether one figure instead of another is worth a word.

    >>> instead(0.194, 0.191), instead(0.194, 0.18)
    (False, True)
    """
    return abs(after - before) >= MEANINGFUL * max(abs(before), abs(after))


def change(measure: str, overall: float, less: Sequence[float]) -> str:
    """Say how far a measure would fall, with the range in brackets: `less` is by how much, at best guess, low, high."""
    after, most, least = (max(0.0, overall - one) for one in less)
    numbers = (overall, after, least, most)
    fine = measure == "error" and (overall < FINE or percent(overall) == percent(after))
    texts = [f"{100 * one:.2f} %" for one in numbers] if fine else told(measure, *numbers)
    noun = "error" if measure == "error" else "mean loss"
    return f"overall {noun} falls from {texts[0]} to {texts[1]} ({texts[2]} to {texts[3]})"


def times(inside: float, outside: float) -> str:
    """Say how many times as much, where that is a sensible figure."""
    if outside <= 0 or inside / outside < 1.5:
        return ""
    ratio = inside / outside
    return f" ({ratio:.1f} times as high)" if ratio < 10 else f" ({ratio:.0f} times as high)"


def listed(texts: Sequence[str], word: str = "and") -> str:
    """Return `a, b and c`."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}" if texts else ""


def named(where: Sequence[str]) -> str:
    """Return conditions as one."""
    return " and ".join(where)
