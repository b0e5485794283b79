"""How requests to a training and their answers look in a terminal. Gets plain values and prints; reads no run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.output import STATE_STYLES, Screen
from cutaway.cli.words import age, printable

if TYPE_CHECKING:
    from cutaway.run.control import Reply, Request

__all__ = ["answer_words", "print_requests"]


def print_requests(name: str, state: str, requests: Sequence[tuple[Request, Reply | None]], *, paused: bool) -> None:
    """Print one line per request, the oldest first."""
    screen = Screen()
    shown = Text(state, style=STATE_STYLES[state])
    screen.line(Text(printable(name), style="bold"), "  ", shown, ", paused" if paused else "")
    if not requests:
        screen.line("Nothing was asked of it so far. `cutaway control --help` lists what can be.", style="dim")
        return
    columns = [
        GridColumn("asked", "right", drop=2),
        GridColumn("action"),
        GridColumn("who", drop=3, least=10),
        GridColumn("why", drop=1, least=12),
        GridColumn("answer", least=20),
    ]
    now = time.time()
    rows: list[list[Cell]] = [
        [
            f"{age(now - one.time)} ago",
            " ".join([one.action, *(f"{name}={value}" for name, value in one.arguments.items())]),
            one.who,
            one.why,
            "waits" if reply is None else answer_words(reply),
        ]
        for one, reply in requests
    ]
    screen.table(columns, rows)


def answer_words(reply: Reply) -> str:
    """Write an answer as one line: its step matters unless it was refused."""
    at = f" at step {reply.step}" if reply.state != "refused" and reply.step >= 0 else ""
    return f"{reply.state}{at}: {reply.reason}" if reply.reason else f"{reply.state}{at}"
