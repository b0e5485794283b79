"""How `cutaway tensors` looks: one line per tensor, under the name of its collection. Reads no run."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn, fit
from cutaway.cli.output import STATE_STYLES, Screen, heading, number_cell
from cutaway.cli.words import number, printable, share
from cutaway.run.leases import RunState
from cutaway.wording import counted

if TYPE_CHECKING:
    from cutaway.cli.tensor_view import Snapshot
    from cutaway.trial.tensor_history import TensorHistory

__all__ = ["one_line", "page"]

# Besides the chosen statistic, in the order in which they are shown; the last go first where there is no room.
_COLUMNS = ("mean", "std", "min", "max", "l2")


def page(screen: Screen, snapshot: Snapshot, *, height: int | None = None) -> list[Text]:
    """Return the lines of the page; with `height`, no more than fit there."""
    lines = [_title(snapshot), _recorded(snapshot)]
    if not snapshot.tensors:
        return [*lines, Text(_why_nothing(snapshot))]
    body, dropped = _table(screen, snapshot)
    foot = _foot(snapshot, dropped)
    if height is not None and len(lines) + len(body) + len(foot) + 2 > height:
        room = max(height - len(lines) - len(foot) - 3, 1)
        body = [
            *body[:room],
            Text(f"… {len(body) - room} more lines: narrow with --regex or --collection", style="dim"),
        ]
    return [*lines, Text(), *body, *([Text(), *foot] if foot else [])]


def one_line(snapshot: Snapshot) -> str:
    """Return the state of things in one line, for logs."""
    loss = next((row for row in snapshot.tensors if row.group == "losses"), None)
    told = f", loss {number(loss.statistics['mean'])}" if loss is not None else ""
    bad = sum(row.nonfinite_steps > 0 for row in snapshot.tensors)
    fault = f", NOT FINITE: {counted(bad, 'tensor')}" if bad else ""
    return f"{snapshot.run}: {snapshot.state}, step {snapshot.last_step}{told}{fault}"


def _title(snapshot: Snapshot) -> Text:
    state = Text(snapshot.state, style=STATE_STYLES[snapshot.state])
    return Text(printable(snapshot.run), style="bold").append("  ").append(state)


def _recorded(snapshot: Snapshot) -> Text:
    recorded = sum(snapshot.steps.values())
    modes = " · ".join(f"{mode} {number_of:,}" for mode, number_of in snapshot.steps.items())
    parts = [f"{counted(recorded, 'step')} recorded ({modes})" if recorded else "no step recorded yet"]
    parts.append(f"{snapshot.thinned:,} thinned" if snapshot.thinned else "none thinned")
    if len(snapshot.workers) > 1:
        parts.append(f"{snapshot.worker} of {counted(len(snapshot.workers), 'worker')}")
    return Text(printable(", ".join(parts)), style="dim")


def _why_nothing(snapshot: Snapshot) -> str:
    if not RunState(snapshot.state).has_ended:
        return "No statistics yet: they appear with the first step. `--follow` waits for them."
    return "No statistics: the run ended before its first step, or its hook watched no module."


def _table(screen: Screen, snapshot: Snapshot) -> tuple[list[Text], list[str]]:
    statistic = snapshot.statistic
    others = [name for name in _COLUMNS if name != statistic]
    bad = any(row.nonfinite_steps for row in snapshot.tensors)
    shown = {row.step for row in snapshot.tensors}
    also = any(len(row.collections) > 1 for row in snapshot.tensors)
    columns = [
        GridColumn(f"step {max(shown)}" if len(shown) == 1 else "", least=28 if (screen.width or 120) >= 100 else 20),
        *([GridColumn("not finite", drop=1)] if bad else []),
        GridColumn(statistic, "right", drop=2),
        GridColumn("over steps", drop=3),
        *(GridColumn(name, "right", drop=4 + i) for i, name in enumerate(others)),
        GridColumn("zeros", "right", drop=5),
        *([GridColumn("step", "right", drop=6)] if len(shown) > 1 else []),
        GridColumn("size", "right", drop=9),
        *([GridColumn("also in", drop=10, least=8)] if also else []),
    ]
    spark = 24 if (screen.width or 120) >= 110 else 12
    rows: list[list[Cell] | Text] = []
    for group, members in groupby(snapshot.tensors, key=lambda row: row.group):
        listed = list(members)
        rows.append(heading(group, str(len(listed))))
        for row in listed:
            cells = _cells(screen, row, statistic, others, spark)
            rows.append([cells[column.title] if i else cells["name"] for i, column in enumerate(columns)])
    fitted = fit(columns, rows, screen.width)
    return fitted.lines, fitted.dropped


def _cells(screen: Screen, row: TensorHistory, statistic: str, others: list[str], spark: int) -> dict[str, Cell]:
    loud = "bold red" if row.statistics["nonfinite"] else "red" if row.nonfinite_steps else ""
    cells: dict[str, Cell] = {name: number_cell(row.statistics[name]) for name in [statistic, *others]}
    return {
        **cells,
        "name": Text(f"  {printable(row.name)}", style=loud),
        "not finite": Text(_fault(row), style=loud),
        "over steps": screen.spark(row.series, spark),
        "zeros": share(row.statistics["zeros"] or 0, row.size),
        "step": f"{row.step:,}",
        "size": f"{row.size:,}",
        "also in": ", ".join(row.collections[1:]),
        statistic: cells[statistic],
    }


def _fault(row: TensorHistory) -> str:
    if not row.nonfinite_steps:
        return ""
    now = int(row.statistics["nonfinite"] or 0)
    since = f"from step {row.first_nonfinite_step:,}"
    return f"{now:,} of {row.size:,} {since}" if now else f"{counted(row.nonfinite_steps, 'step')} {since}"


def _foot(snapshot: Snapshot, dropped: list[str]) -> list[Text]:
    lines = []
    bad = [row for row in snapshot.tensors if row.nonfinite_steps]
    if bad:
        first = min(bad, key=lambda row: row.first_nonfinite_step or 0)
        told = f"NOT FINITE: {counted(len(bad), 'tensor')}, first {first.name} at step {first.first_nonfinite_step}."
        lines.append(Text(printable(told), style="bold red"))
    if snapshot.damage:
        places = counted(len(snapshot.damage), "place")
        told = f"Damaged: {places} of the trace; `cutaway runs show {snapshot.path}` names them."
        lines.append(Text(printable(told), style="red"))
    if snapshot.mode is not None and len(snapshot.steps) > 1:
        other = ", ".join(f"`--mode {mode}`" for mode in snapshot.steps if mode != snapshot.mode)
        lines.append(Text(f"{snapshot.mode} steps; {other} for the others.", style="dim"))
    if dropped:
        told = f"No room here for {', '.join(name for name in dropped if name)}; a wider terminal or --json shows them."
        lines.append(Text(told, style="dim"))
    return lines
