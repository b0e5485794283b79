"""What is seen: the pixels of a part of a page, and how much of a colour there is among them."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

__all__ = [
    "Pixels",
    "colour_of",
    "count_of",
    "difference",
    "difference_in_place",
    "eventually",
    "parameters",
    "pixels",
    "settled",
]

Pixels = npt.NDArray[np.int64]


def pixels(part: Any) -> Pixels:
    """What a locator or a page looks like, a number each for red, green and blue."""
    picture = Image.open(io.BytesIO(part.screenshot(animations="disabled", caret="hide")))
    return np.asarray(picture.convert("RGB")).astype(np.int64)


def colour_of(page: Any, variable: str) -> tuple[int, int, int]:
    """A colour of the page by the name of its variable."""
    text = page.evaluate(
        "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()", f"--{variable}"
    )
    digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def count_of(seen: Pixels, colour: tuple[int, int, int], reach: int = 24) -> int:
    """How many pixels have a colour, or nearly."""
    return int((np.abs(seen - np.array(colour)).max(axis=-1) <= reach).sum())


def difference(one: Pixels, other: Pixels) -> float:
    """The share of pixels that differ visibly; all of them where the sizes differ."""
    if one.shape != other.shape:
        return 1.0
    return float((np.abs(one - other).max(axis=-1) > 24).mean())


def difference_in_place(one: Pixels, other: Pixels) -> float:
    """The same of pictures of two pages, each put where it differs least, by at most one pixel.

    A part may begin between two pixels, and what stands above it decides to which of them a screenshot rounds.
    """
    if min(one.shape[0], other.shape[0]) < 3 or any(
        abs(a - b) > 1 for a, b in zip(one.shape, other.shape, strict=True)
    ):
        return 1.0
    rows, columns = (min(a, b) - 2 for a, b in zip(one.shape[:2], other.shape[:2], strict=True))
    inside = one[1 : 1 + rows, 1 : 1 + columns]
    shifts = ((down, right) for down in range(3) for right in range(3))
    return min(difference(inside, other[down : down + rows, right : right + columns]) for down, right in shifts)


def settled(part: Any) -> Pixels:
    """What a part looks like once two looks after each other see the same."""
    before = pixels(part)
    for _ in range(40):
        # Two frames: what was asked for is drawn by then.
        part.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        now = pixels(part)
        if difference(before, now) == 0:
            return now
        before = now
    raise AssertionError("the picture does not come to rest")


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something outside of the page holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it does not come to hold"
        time.sleep(0.02)


def parameters(page: Any) -> dict[str, list[str]]:
    """The query of a page's address."""
    from urllib.parse import parse_qs, urlsplit

    # Asked of the page: what playwright has heard of it may be a moment old.
    return parse_qs(urlsplit(page.evaluate("() => location.href")).query)
