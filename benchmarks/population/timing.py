"""Times of functions that take turns in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["in_turn"]


def in_turn(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each function; each is first every so many turns, after one call that is not timed."""
    names = list(functions)
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            begin = time.perf_counter()
            functions[name]()
            seconds[name].append(time.perf_counter() - begin)
    return seconds
