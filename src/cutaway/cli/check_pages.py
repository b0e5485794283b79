"""How `cutaway check` looks: a table of functions, what failed with place, reason and fix, and what to do next."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.options import shown_path
from cutaway.cli.output import SEVERITY_STYLES, Screen, heading
from cutaway.cli.words import printable
from cutaway.evaluation.check_report import CheckReport, CheckRow, CheckStatus
from cutaway.run.findings import Finding
from cutaway.wording import counted

__all__ = ["print_page"]

STATUS_STYLES = {
    CheckStatus.PASS: "green",
    CheckStatus.WARN: "yellow",
    CheckStatus.FAIL: "bold red",
    CheckStatus.SKIP: "dim",
}
# Rows that go without saying where nothing is wrong with them: the line above the table has what they tell.
QUIET = ("entry file", "subset")
TITLES = {"error": "Failures", "warning": "Warnings", "info": "Noted"}
# What was raised in somebody's line: that line tells most.
RAISED = ("binding-entry", "binding-preprocess", "binding-raises", "function-raises", "model-unreadable")
MANY = 100_000
MOST_PRINTS = 60


def print_page(screen: Screen, report: CheckReport, *, entry: str | None, model: str | None, prints: bool) -> None:
    """Print the whole page."""
    screen.line(_head(report, entry))
    rows = [row for row in report.rows if row.kind not in QUIET or row.status is not CheckStatus.PASS]
    screen.table(_check_columns(), [_check_row(row) for row in rows])
    for severity in ("error", "warning", "info"):
        _print_findings(screen, severity, report.of(severity))
    _print_prints(screen, report.prints, shown=prints)
    screen.line()
    screen.line(_verdict(report, rows))
    screen.line(Text("Next: ", style="dim"), _next(report, entry, model))


def _head(report: CheckReport, entry: str | None) -> Text:
    name = shown_path(Path(report.entry)) if report.entry else entry or "."
    head = Text(printable(name), style="bold")
    if report.subsets:
        sizes = ", ".join(f"{name} {length:,}" for name, length in report.subsets.items())
        looked = sum(report.looked_at.values())
        head.append(f"  {sizes}; looked at {counted(looked, 'sample')}", style="not bold dim")
    return head


def _check_columns() -> list[GridColumn]:
    return [
        GridColumn("function", least=20),
        GridColumn("kind"),
        GridColumn("status"),
        GridColumn("shape", drop=2),
        GridColumn("dtype", drop=4, least=8),
        GridColumn("a sample", "right", drop=3),
        GridColumn("100k", "right", drop=5),
        GridColumn("about", drop=1, least=22, cut="end"),
    ]


def _check_row(row: CheckRow) -> list[Cell]:
    return [
        Text(printable(row.name), style="bold"),
        row.kind,
        Text(str(row.status), style=STATUS_STYLES[row.status]),
        "" if row.shape is None else str(row.shape),
        row.dtype,
        "" if row.seconds is None else _time(row.seconds),
        "" if row.seconds is None else _time(row.seconds * MANY),
        Text(printable(row.note), style="dim"),
    ]


def _time(seconds: float) -> str:
    """Write a time in the unit that fits, with two digits that count."""
    for limit, unit, size in ((1e-3, "µs", 1e-6), (1.0, "ms", 1e-3), (120.0, "s", 1.0), (7200.0, "min", 60.0)):
        if seconds < limit:
            value = seconds / size
            return f"{value:.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"
    return f"{seconds / 3600:.1f} h"


def _print_findings(screen: Screen, severity: str, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    screen.line()
    screen.line(heading(TITLES[severity], str(len(findings))))
    for one in findings:
        place = str(one.where.get("place", ""))
        where = f"{_near(place)}: " if place else ""
        title = Text(one.code, style=SEVERITY_STYLES[one.severity])
        line = _source(place) if one.code in RAISED else ""
        told: list[tuple[Cell, Cell]] = [(title, f"{where}{one.message}{'' if one.message.endswith('?') else '.'}")]
        if line:
            told.append(("", Text(f"   {printable(line)}", style="dim")))
        screen.pairs([*told, ("", f"-> {one.evidence['fix']}")], indent=2)


def _near(place: str) -> str:
    """Write a place as short as it can be used from here."""
    path, _, line = place.rpartition(":")
    return f"{shown_path(Path(path))}:{line}" if path else place


def _source(place: str) -> str:
    """Return the line of code at a place, where it can be read."""
    path, _, line = place.rpartition(":")
    return linecache.getline(path, int(line)).strip() if path and line.isdigit() else ""


def _print_prints(screen: Screen, prints: str, *, shown: bool) -> None:
    lines = prints.splitlines()
    if not lines:
        return
    screen.line()
    if not shown:
        screen.line(f"The binding printed {counted(len(lines), 'line')}; --prints shows them.", style="dim")
        return
    screen.line(heading("Printed by the binding", counted(len(lines), "line")))
    for line in lines[:MOST_PRINTS]:
        screen.line("  ", line)
    if len(lines) > MOST_PRINTS:
        screen.line(f"  {len(lines) - MOST_PRINTS} more; --json has what was kept", style="dim")


def _verdict(report: CheckReport, rows: Sequence[CheckRow]) -> Text:
    counts = {status: sum(row.status is status for row in rows) for status in CheckStatus}
    words = [(CheckStatus.FAIL, "failed"), (CheckStatus.PASS, "passed"), (CheckStatus.SKIP, "skipped")]
    told = [f"{counts[status]} {word}" for status, word in words if counts[status]]
    if report.of("warning"):
        told.append(counted(len(report.of("warning")), "warning"))
    verdict = "Binding is valid" if report.ok else "Binding is not valid"
    text = Text(verdict, style="bold green" if report.ok else "bold red")
    text.append(f": {', '.join(told)}.", style="not bold default")
    if report.sample_seconds:
        text.append(
            f" Encoding {MANY:,} samples would take about {_time(report.sample_seconds * MANY)} on one thread.",
            style="not bold dim",
        )
    return text


def _next(report: CheckReport, entry: str | None, model: str | None) -> str:
    here = entry or "."
    if not report.ok:
        return f"repair {report.findings[0].code}, then `cutaway check {here}{f' --model {model}' if model else ''}`"
    if not report.model:
        return f"cutaway check {here} --model PATH"
    return f"cutaway evaluate {here} {model or ''}".rstrip()
