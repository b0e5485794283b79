"""How `cutaway watch` looks in a terminal, in a log and as JSON. Gets statuses and prints; runs no rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn, fit
from cutaway.cli.options import command_run
from cutaway.cli.output import STATE_STYLES, Screen, finding_pair, heading
from cutaway.cli.words import printable
from cutaway.rules.causes import in_telling_order
from cutaway.rules.runner import Watched
from cutaway.rules.watcher import WatchStatus
from cutaway.run.findings import Finding
from cutaway.run.watches import Status
from cutaway.wording import counted

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["WatchRecord", "finding_object", "live_page", "print_end"]

# The most telling first.
STATUS_STYLES = {
    Status.FIRED: "bold yellow",
    Status.BROKEN: "bold red",
    Status.SILENT: "green",
    Status.WAITING: "dim",
    Status.SKIPPED: "dim",
}
MOST_FINDINGS = 12
# Lines of a live page that are not rules.
FRAME_LINES = 4


class WatchRecord:
    """What a watch has seen so far: its last status, and every new finding."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.last: WatchStatus | None = None
        self.findings: list[Finding] = []

    def add(self, one: WatchStatus) -> None:
        """Take in how things stand after a look."""
        self.last = one
        self.findings += one.findings

    def line(self, finding: Finding) -> str:
        """Return a finding as a line of a log."""
        step = finding.where.get("step")
        at = "" if step is None else f" at step {step}"
        return printable(f"{finding.severity}: {finding.code}{at}: {finding.message}")

    def one_line(self) -> str:
        """Return how it stands as one line."""
        if self.last is None:
            return f"{self.run}: nothing yet"
        counts = Counter(one.status for one in self.last.watched)
        listed = ", ".join(f"{counts[status]} {status.lower()}" for status in STATUS_STYLES if status in counts)
        step = "no step yet" if self.last.newest < 0 else f"step {self.last.newest}"
        return f"{self.run}: {self.last.state}, {step}; {counted(len(self.last.watched), 'rule')}: {listed}"


def finding_object(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values."""
    names = ("id", "code", "severity", "message", "where", "evidence", "time", "source")
    return {name: getattr(finding, name) for name in names}


def live_page(screen: Screen, seen: WatchRecord) -> list[Text]:
    """Return the table as it stands, no longer than the terminal: rules that say nothing make room."""
    assert seen.last is not None
    rows = _ordered(seen.last.watched)
    room = max(screen.console.height - FRAME_LINES, 5)
    shown, left = rows[:room], rows[room:]
    lines = [_head(seen.last, seen.run), *fit(_rule_columns(), [_rule_row(one) for one in shown], screen.width).lines]
    if left:
        lines.append(Text(f"and {counted(len(left), 'more rule')}", style="dim"))
    return [*lines, Text("Ctrl-C ends the watch; the training goes on.", style="dim")]


def print_end(screen: Screen, seen: WatchRecord, run: Run) -> None:
    """Print the whole table, the new findings in full, and what to do next."""
    if seen.last is None:
        return
    screen.line(_head(seen.last, seen.run))
    screen.table(_rule_columns(), [_rule_row(one) for one in _ordered(seen.last.watched)])
    if seen.findings:
        screen.line()
        screen.line(heading("New findings", f"{len(seen.findings)}"))
        shown = _causes_first(seen.findings)[:MOST_FINDINGS]
        screen.pairs([finding_pair(one.severity, one.code, one.where.get("step"), one.message) for one in shown], 2)
        if len(seen.findings) > MOST_FINDINGS:
            screen.line(f"  {len(seen.findings) - MOST_FINDINGS} more; --json has them all", style="dim")
    if seen.last.unrecorded:
        screen.line(f"Not recorded in the run: {seen.last.unrecorded}", style="bold yellow")
    screen.line()
    screen.line(Text("Next: ", style="dim"), f"cutaway runs show {command_run(run)}")


def _causes_first(findings: list[Finding]) -> list[Finding]:
    """Return what tells most first, each kind by its first finding; the rest follows as it was found."""
    first = in_telling_order(findings)
    told = {id(one) for one in first}
    return [*first, *(one for one in findings if id(one) not in told)]


def _rule_columns() -> list[GridColumn]:
    return [
        GridColumn("rule", least=12),
        GridColumn("status"),
        GridColumn("step", "right", drop=1),
        GridColumn("finding", least=20, cut="end"),
    ]


def _rule_row(one: Watched) -> list[Cell]:
    status = Text(str(one.status), style=STATUS_STYLES[one.status])
    said = one.message
    if one.behind:
        said = f"{counted(one.behind, 'step')} behind{'; ' if said else ''}{said}"
    elif one.findings > 1:
        said = f"{one.findings}x, last: {said}"
    style = "dim" if one.status is Status.SKIPPED else ""
    step = "·" if one.step < 0 else f"{one.step:,}"
    return [Text(one.rule.rule_name, style="bold"), status, step, Text(printable(said), style=style)]


def _ordered(watched: Any) -> list[Watched]:
    order = list(STATUS_STYLES)
    return sorted(watched, key=lambda one: (order.index(one.status), one.rule.rule_name))


def _head(last: WatchStatus, name: str) -> Text:
    step = "no step yet" if last.newest < 0 else f"step {last.newest:,}"
    head = Text(printable(name), style="bold").append("  ")
    return head.append(str(last.state), style=f"not bold {STATE_STYLES[str(last.state)]}").append(
        f"  {step}", style="not bold"
    )
