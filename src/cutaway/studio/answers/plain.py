"""Makes what a run holds fit to travel as JSON, whoever wrote it: no NaN, no broken text, no endless nesting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["number_or_none", "plain", "text"]

MOST_DEPTH = 50
MOST_ITEMS = 10_000
MOST_CHARACTERS = 100_000


def text(value: object) -> str:
    """Return a value as text that can be written in UTF-8, cut where it is endless.

    >>> text("loss"), text("half\\ud800")
    ('loss', 'half?')
    """
    words = value if isinstance(value, str) else str(value)
    whole = words.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= MOST_CHARACTERS else f"{whole[:MOST_CHARACTERS]} ..."


def number_or_none(value: object) -> float | None:
    """Return a value where it is a number, whoever wrote it.

    >>> number_or_none(3), number_or_none("three")
    (3.0, None)
    """
    return float(value) if isinstance(value, int | float) else None


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON can hold it; a number that is not finite becomes its name.

    >>> plain({"a": [1.0, float("nan")], 2: None})
    {'a': [1.0, 'NaN'], '2': None}
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _name(value)
    if depth > MOST_DEPTH:
        return "..."
    if isinstance(value, Mapping):
        return {text(key): plain(held, depth + 1) for key, held in list(value.items())[:MOST_ITEMS]}
    if isinstance(value, list | tuple):
        return [plain(held, depth + 1) for held in value[:MOST_ITEMS]]
    return text(value)


def _name(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
