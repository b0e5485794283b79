"""How `runs show` tells of the evaluations of a run: how each subset did, and the samples with the largest loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.output import Screen, heading
from cutaway.cli.words import number, printable

__all__ = ["print_evaluations"]

LOSS = "loss"


def print_evaluations(screen: Screen, facts: Sequence[dict[str, Any]]) -> None:
    """Print a line for each subset of each evaluation, then the samples to look at first."""
    if not facts:
        return
    screen.line()
    screen.line(heading("Evaluations"))
    names = list(dict.fromkeys(n for one in facts for subset in one["subsets"].values() for n in subset["means"]))
    shown = [name for name in names if name != LOSS]
    titles = [GridColumn(name.partition(".")[2], "right", least=8, drop=2 + i) for i, name in enumerate(shown)]
    columns = [
        GridColumn("", "right"),
        GridColumn("epoch", "right", drop=1),
        GridColumn("subset"),
        GridColumn("samples", "right"),
    ]
    rows: list[list[Cell]] = []
    for one in facts:
        for name, subset in one["subsets"].items():
            epoch = "·" if one["epoch"] is None else str(one["epoch"])
            scores = [number(subset["means"].get(score)) for score in shown]
            rows.append([f"  {one['evaluation']}", epoch, name, f"{subset['samples']:,}", *scores])
    screen.table([*columns, *titles], rows)
    for one in facts:
        if one["state"] != "finished":
            line = (
                f"  evaluation {one['evaluation']} is not finished: the same `cutaway evaluate` again goes on with it"
            )
            screen.line(line, style="yellow")
        if "unreadable" in one:
            screen.line(f"  {one['unreadable']}", style="red")
    _print_hardest(screen, next((one["hardest"] for one in facts if one.get("hardest")), []))


def _print_hardest(screen: Screen, hardest: Sequence[dict[str, Any]]) -> None:
    if not hardest:
        return
    screen.line()
    screen.line(heading("Hardest samples", "by their loss, of the newest evaluation"))
    columns = [
        GridColumn("", least=12),
        GridColumn("loss", "right"),
        GridColumn("is", drop=1),
        GridColumn("taken for", drop=1),
    ]
    rows: list[list[Cell]] = [
        [
            Text(f"  {printable(one['id'] or '·')}", style="bold"),
            number(one["loss"]),
            printable(one["truth"] or "·"),
            printable(one["prediction"] or "·"),
        ]
        for one in hardest
    ]
    screen.table(columns, rows)
