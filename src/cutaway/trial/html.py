"""What a notebook shows of a trial and of a tensor: one small table, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["facts_table", "listed"]

MOST_ITEMS = 8


def facts_table(title: str, facts: Mapping[str, object]) -> str:
    """Return a table of two columns."""
    left = "style='text-align:left'"
    rows = "".join(
        f"<tr><th {left}>{escape(str(name))}</th><td {left}>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table><caption {left}><b>{escape(title)}</b></caption>{rows}</table>"


def listed(items: Sequence[object]) -> str:
    """Return a few items and how many there are: `0, 10, 20, ... (100)`."""
    if len(items) <= MOST_ITEMS:
        return ", ".join(map(str, items)) or "none"
    return f"{', '.join(map(str, items[: MOST_ITEMS - 1]))}, … {items[-1]} ({len(items):,})"
