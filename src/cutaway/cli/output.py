"""Where the commands write: results to stdout, everything else to stderr, as text for people or as one JSON object."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn, cell_text, fit
from cutaway.cli.sparkline import ASCII_BLOCKS, BLOCKS, NOT_FINITE, sparkline
from cutaway.cli.words import number, printable

__all__ = [
    "SEVERITY_STYLES",
    "STATE_STYLES",
    "Screen",
    "emit_json",
    "error_object",
    "finding_pair",
    "heading",
    "number_cell",
    "print_error",
]

STATE_STYLES = {
    "starting": "bold cyan",
    "running": "bold green",
    "finished": "green",
    "failed": "bold red",
    "ended": "yellow",
    "lost": "bold yellow",
    "crashed": "bold red",
}
SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
# A pipe has no width: cutting names there would only hurt whoever reads them next.
UNLIMITED = 10_000


class Screen:
    """Text for people. Colours only in a terminal and without NO_COLOR; never wider than the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        self.console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=False)
        self.is_terminal = self.console.is_terminal
        self.unicode = _can_write(self.console, BLOCKS)
        # Rich goes by COLUMNS or the terminal, and takes 80 where neither says how wide.
        self._limited = self.is_terminal or "COLUMNS" in os.environ
        if not self._limited:
            self.console.width = UNLIMITED

    @property
    def width(self) -> int | None:
        """The width that lines must fit, asked anew since a terminal can be resized; None where there is no limit."""
        return self.console.width if self._limited else None

    def line(self, *parts: Cell, style: str = "") -> None:
        """Print one line, wrapped between words where it is too long."""
        whole = Text(style=style)
        for part in parts:
            whole.append(part if isinstance(part, Text) else Text(printable(part)))
        self.console.print(whole)

    def table(self, columns: Sequence[GridColumn], rows: Sequence[Sequence[Cell] | Text]) -> list[str]:
        """Print rows and return the titles of the columns that did not fit."""
        fitted = fit(columns, rows, self.width)
        for line in fitted.lines:
            self.console.print(line, soft_wrap=True)
        return fitted.dropped

    def pairs(self, pairs: Sequence[tuple[Cell, Cell]], indent: int = 0) -> None:
        """Print labels and what they stand for; what is too long goes on below its own beginning."""
        texts = [(cell_text(label), cell_text(value)) for label, value in pairs]
        left = max((label.cell_len for label, _ in texts), default=0)
        start = " " * indent
        for label, value in texts:
            label.stylize_before("dim")
            first = Text(start).append(label).append(" " * (left - label.cell_len + (2 if left else 0)))
            room = None if self.width is None else max(self.width - first.cell_len, 20)
            lines = [value] if room is None else list(value.wrap(self.console, room))
            for i, line in enumerate(lines or [value]):
                margin = first if i == 0 else Text(" " * first.cell_len)
                self.console.print(Text().append(margin).append(line), soft_wrap=True)

    def spark(self, values: Sequence[float | None], width: int) -> Text:
        """Draw a series, its non-finite stretches in red."""
        drawn = Text(sparkline(values, width, blocks=BLOCKS if self.unicode else ASCII_BLOCKS), style="cyan")
        drawn.highlight_regex(re.escape(NOT_FINITE), "bold red")
        return drawn


def heading(text: str, note: str = "") -> Text:
    """Return a heading for a part of a page."""
    whole = Text(printable(text), style="bold")
    return whole.append(f"  {printable(note)}", style="not bold dim") if note else whole


def number_cell(value: float | None, style: str = "") -> Text:
    """Return a number for a cell, loud where it is not finite."""
    bad = value is not None and not math.isfinite(value)
    return Text(number(value), style="bold red" if bad else style)


def finding_pair(severity: str, code: str, step: object, message: str) -> tuple[Text, str]:
    """Return a finding as a label and what it stands for; `step` is None where it is about no step."""
    at = "" if step is None else f" (step {step})"
    return Text(severity, style=SEVERITY_STYLES[severity]), f"{code}{at}: {message}"


def emit_json(content: Mapping[str, Any], *, one_line: bool = False) -> None:
    """Print one JSON object to stdout. NaN and infinities, which JSON lacks, become the strings of those names."""
    whole = {"ok": True, **content}
    sys.stdout.write(json.dumps(_as_json(whole), indent=None if one_line else 2, allow_nan=False) + "\n")
    sys.stdout.flush()


def error_object(message: str, hint: str, code: str, status: int) -> dict[str, Any]:
    """Return the one shape of an error in JSON."""
    return {"ok": False, "error": message, "code": code, "hint": hint, "status": status}


def print_error(message: str, hint: str = "", label: str = "Error") -> None:
    """Print what happened, and below it what to do, to stderr."""
    screen = Screen(stderr=True)
    screen.line(Text(f"{label}: ", style="bold red"), message)
    if hint:
        screen.line(hint)


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value)


def _can_write(console: Console, text: str) -> bool:
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
