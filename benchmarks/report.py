"""Renders the rows as a plain text table, as Markdown and as JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import Estimate
from benchmarks.results import Absent, OverheadRow, StoreRow

OVERHEAD_HEAD = (
    "case",
    "ratio",
    "95 % interval",
    "A/A",
    "bare ms",
    "sustained",
    "CPU",
    "error",
    "lost",
    "bar",
    "verdict",
)
STORE_HEAD = ("store", "figures", "result", "95 % interval", "bar", "verdict")
LEGEND = (
    "ratio: median over triples of the captured time over the geometric mean of the two bare times beside it.",
    "A/A: the second bare time over the first. bare ms: one bare step.",
    "sustained, CPU: wall and process-CPU time of uninterrupted captured blocks with their flush, over bare blocks;",
    "  background threads are charged to capture here.",
    "error: worst recorded statistic against float64 (exact: bit for bit).",
    "lost: due steps that are not in the run, in triples + in blocks.",
    "verdict: missed only if the whole interval lies beyond the bar; void if records were lost or wrong.",
)


@dataclass(frozen=True)
class Report:
    """Everything that one run found."""

    machine: dict[str, str]
    overhead: list[OverheadRow | Absent]
    store: list[StoreRow | Absent]

    def text(self) -> str:
        """For a terminal."""
        parts = [" · ".join(f"{name} {value}" for name, value in self.machine.items())]
        parts.append(text_table(OVERHEAD_HEAD, [_overhead_cells(row) for row in self.overhead]))
        parts.append("\n".join(LEGEND))
        parts.append(text_table(STORE_HEAD, [store_cells(row) for row in self.store]))
        parts.extend(self._problems())
        return "\n\n".join(part for part in parts if part) + "\n"

    def markdown(self) -> str:
        """For the documentation; two tables, the second for the store."""
        parts = ["; ".join(f"{name}: {value}" for name, value in self.machine.items())]
        parts.append(markdown_table(OVERHEAD_HEAD, [_overhead_cells(row) for row in self.overhead]))
        parts.append(markdown_table(STORE_HEAD, [store_cells(row) for row in self.store]))
        parts.extend(self._problems())
        return "\n\n".join(part for part in parts if part) + "\n"

    def json(self) -> dict[str, Any]:
        """Every row with all its fields."""
        return {
            "machine": self.machine,
            "overhead": [dataclasses.asdict(row) for row in self.overhead],
            "store": [dataclasses.asdict(row) for row in self.store],
        }

    def _problems(self) -> list[str]:
        rows = [row for row in (*self.overhead, *self.store) if not isinstance(row, Absent)]
        lines = [f"{row.label.strip()}: {problem}." for row in rows for problem in row.problems]
        return ["\n".join(lines)] if lines else []


def _overhead_cells(row: OverheadRow | Absent) -> tuple[str, ...]:
    if isinstance(row, Absent):
        return (row.label, f"not measured: {row.reason}", *[""] * (len(OVERHEAD_HEAD) - 2))
    return (
        row.label,
        f"{row.ratio.median:.3f}",
        interval(row.ratio),
        f"{row.bare_again.median:.3f}",
        f"{row.bare_milliseconds:.2f}",
        f"{row.sustained_ratio:.3f}",
        f"{row.cpu_ratio:.3f}",
        row.accuracy,
        row.lost,
        "-" if row.bar is None else str(row.bar),
        row.verdict.value,
    )


def store_cells(row: StoreRow | Absent) -> tuple[str, ...]:
    if isinstance(row, Absent):
        return (row.label, f"not measured: {row.reason}", *[""] * (len(STORE_HEAD) - 2))
    bar = "-" if row.bar is None else str(row.bar)
    return (row.label, row.figures, f"{row.estimate.median:.2f}", interval(row.estimate), bar, row.verdict.value)


def interval(estimate: Estimate) -> str:
    return f"[{estimate.low:.3f}, {estimate.high:.3f}]"


def text_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Columns padded to their widest cell; the reason why a row is absent may run over."""
    full = [row for row in rows if row[-1]]
    widths = [max(len(row[column]) for row in (head, *full)) for column in range(len(head))]
    widths[0] = max(len(row[0]) for row in (head, *rows))
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def markdown_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(_indented(cell) for cell in row)} |" for row in lines)


def _indented(cell: str) -> str:
    """Markdown drops leading blanks, and the peers' rows are told by theirs."""
    return f"&nbsp;&nbsp;{cell.strip()}" if cell.startswith("  ") else cell
