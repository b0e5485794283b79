"""A series of numbers as one line of block characters. Knows no colours and no terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["ASCII_BLOCKS", "BLOCKS", "NOT_FINITE", "sparkline"]

BLOCKS = "▁▂▃▄▅▆▇█"
# For terminals that cannot show the blocks.
ASCII_BLOCKS = "_.-=+*#@"
NOT_FINITE = "x"


def sparkline(values: Iterable[float | None], width: int = 24, *, blocks: str = BLOCKS) -> str:
    """Draw a series, oldest first, in at most `width` characters; its own minimum and maximum are the scale.

    A long series is averaged into `width` equal stretches. A stretch that holds a NaN or an infinity is drawn as `x`,
    whatever else it holds; None means that nothing was recorded there, and leaves a gap.

    >>> sparkline([0, 1, 2, 3])
    '▁▃▆█'
    >>> sparkline([1, float("nan"), None, 3])
    '▁x █'
    """
    from cutaway.trial.summary import shrink  # an error message must not wait for arrow

    points = shrink(list(values), width)
    finite = [point for point in points if point is not None and math.isfinite(point)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    return "".join(_mark(point, low, high, blocks) for point in points)


def _mark(point: float | None, low: float, high: float, blocks: str) -> str:
    if point is None:
        return " "
    if not math.isfinite(point):
        return NOT_FINITE
    if high <= low:
        return blocks[len(blocks) // 2 - 1]
    # Halved, so that the span of the largest and smallest double does not overflow.
    share = (point / 2 - low / 2) / (high / 2 - low / 2)
    return blocks[min(int(share * len(blocks)), len(blocks) - 1)]
