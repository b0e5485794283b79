"""Small drawings of numbers as SVG of our own: a line over steps, a value in its interval. No text goes in."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["interval", "line", "share"]

WIDE, HIGH, MARGIN = 240, 56, 4


def line(values: Sequence[float | None]) -> str:
    """Return a series as a line; a gap where a value is missing or not finite, a red mark where it is not finite.

    >>> line([1.0, 2.0]).count("<polyline")
    1
    """
    finite = [one for one in values if one is not None and math.isfinite(one)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    step = (WIDE - 2 * MARGIN) / max(len(values) - 1, 1)
    stretches: list[list[str]] = [[]]
    bad = ""
    for place, value in enumerate(values):
        x = MARGIN + place * step
        if value is None or not math.isfinite(value):
            stretches.append([])
            bad += "" if value is None else f'<circle class="bad" cx="{x:.1f}" cy="{HIGH - 5}" r="2.5"/>'
            continue
        # Halved, so that the span of the largest and smallest double does not overflow.
        part = 0.5 if high <= low else (value / 2 - low / 2) / (high / 2 - low / 2)
        stretches[-1].append(f"{x:.1f},{HIGH - MARGIN - part * (HIGH - 2 * MARGIN):.1f}")
    return _drawing("line", WIDE, HIGH, "".join(_stretch(points) for points in stretches if points) + bad)


def interval(value: float, low: float, high: float, ends: tuple[float, float]) -> str:
    """Return a value and its interval as a mark on a line between two ends; nothing where the value is not finite."""
    first, last = ends
    if not math.isfinite(value) or last <= first:
        return ""

    def place(one: float) -> float:
        return min(max((one - first) / (last - first), 0.0), 1.0) * 100

    drawn = _bar("rail", 0, 100, 5, 2)
    if math.isfinite(low) and math.isfinite(high):
        drawn += _bar("band", place(low), max(place(high) - place(low), 0.8), 4, 4)
    return _drawing("interval", 100, 12, drawn + _bar("mark", min(place(value), 99.0), 1, 1, 10))


def share(value: float) -> str:
    """Return a share from 0 to 1 as a bar."""
    filled = min(max(value, 0.0), 1.0) * 100 if math.isfinite(value) else 0.0
    return _drawing("share", 100, 4, _bar("rail", 0, 100, 0, 4) + _bar("mark", 0, filled, 0, 4))


def _stretch(points: list[str]) -> str:
    if len(points) == 1:
        x, _, y = points[0].partition(",")
        return f'<circle class="dot" cx="{x}" cy="{y}" r="2"/>'
    return f'<polyline points="{" ".join(points)}"/>'


def _bar(kind: str, x: float, width: float, y: int, height: int) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}"/>'


def _drawing(kind: str, width: int, height: int, drawn: str) -> str:
    # Stretched to its place, and passed over by those who listen: the numbers stand beside it.
    box = f'viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true"'
    return f'<svg class="{kind}" {box}>{drawn}</svg>'
