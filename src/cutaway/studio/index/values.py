"""Settings and identity of a run as the cells of a table: dotted names, plain values, bounded in number and length."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from cutaway.run.plain_text import plain_text
from cutaway.trial.summary import flat_items

__all__ = ["LONGEST_TEXT", "MOST_VALUES", "Value", "as_text", "cells_of"]

Value = str | bool | int | float | None
MOST_VALUES = 500
LONGEST_TEXT = 200
LONGEST_NAME = 150
# What a browser's numbers can hold.
_LARGEST_WHOLE = 2**53


def cells_of(nested: Mapping[str, Any], prefix: str) -> tuple[dict[str, Value], int]:
    """Return at most `MOST_VALUES` cells with dotted names, and how many values were left out, counted that far."""
    items = list(islice(flat_items(nested, prefix), 2 * MOST_VALUES))
    cells = {plain_text(key, LONGEST_NAME): _cell(value) for key, value in items[:MOST_VALUES]}
    return {key: value for key, value in cells.items() if value is not None}, max(len(items) - MOST_VALUES, 0)


def as_text(value: Any, most: int = LONGEST_TEXT) -> str:
    """Write a setting as people do: a text as it is, all else as JSON, cut where it is long."""
    return plain_text(value if isinstance(value, str) else "".join(_written(value, most)), most)


def _cell(value: Any) -> Value:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_WHOLE else _huge(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else as_text(value)
    return as_text(value) or None


def _huge(value: int) -> str:
    # Python refuses to write very long numbers out, and rightly so.
    return str(value) if value.bit_length() < 1000 else f"a number of {value.bit_length()} bits"


def _written(value: Any, most: int) -> Iterator[str]:
    """Write JSON piece by piece, no more than can be shown: aliases make small files endless."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield _huge(value)
        return
    length = 0
    try:
        for piece in json.JSONEncoder(default=str, ensure_ascii=False).iterencode(value):
            yield piece
            length += len(piece)
            if length > most:
                return
    except (ValueError, RecursionError, TypeError):
        yield "…"
