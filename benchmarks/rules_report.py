"""Renders the rows of the rules' benchmark as a plain text table, as Markdown and as JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from benchmarks.report import STORE_HEAD, markdown_table, store_cells, text_table
from benchmarks.results import Absent, StoreRow
from benchmarks.rules_results import RuleShare

__all__ = ["RulesReport"]

HEAD = ("rules", *STORE_HEAD[1:])
SHARES_HEAD = ("slowest rules", "seconds", "share", "findings", "status")
LEGEND = (
    "all rules: opening the run and everything up to the last recorded finding, in a fresh process, files in memory.",
    "invoke_rule: opening the run and looking at all its steps; smdebug's sleep at the end of a job is switched off.",
    "a finding after its step's end: from the end of the optimizer's step until the line of `cutaway watch` is read.",
    "training beside a watcher: stretches with the watcher running, over the geometric mean of the two beside it with",
    "  the watcher stopped. A/A: the second of these over the first.",
    "verdict: missed only if the whole interval lies beyond the bar; void if a rule broke or an answer was wrong.",
)


@dataclass(frozen=True)
class RulesReport:
    """Everything that one run found."""

    machine: dict[str, str]
    rows: list[StoreRow | Absent]
    shares: list[RuleShare]

    def text(self) -> str:
        """For a terminal."""
        parts = [" · ".join(f"{name} {value}" for name, value in self.machine.items())]
        parts.append(text_table(HEAD, [store_cells(row) for row in self.rows]))
        parts.append(text_table(SHARES_HEAD, [_share_cells(share) for share in self.shares]) if self.shares else "")
        parts.append("\n".join(LEGEND))
        parts.append(self._problems())
        return "\n\n".join(part for part in parts if part) + "\n"

    def markdown(self) -> str:
        """For the documentation."""
        parts = ["; ".join(f"{name}: {value}" for name, value in self.machine.items())]
        parts.append(markdown_table(HEAD, [store_cells(row) for row in self.rows]))
        parts.append(markdown_table(SHARES_HEAD, [_share_cells(one) for one in self.shares]) if self.shares else "")
        parts.append(self._problems())
        return "\n\n".join(part for part in parts if part) + "\n"

    def json(self) -> dict[str, Any]:
        """Every row with all its fields."""
        return {
            "machine": self.machine,
            "rows": [dataclasses.asdict(row) for row in self.rows],
            "slowest": [dataclasses.asdict(share) for share in self.shares],
        }

    def _problems(self) -> str:
        rows = [row for row in self.rows if isinstance(row, StoreRow)]
        return "\n".join(f"{row.label.strip()}: {problem}." for row in rows for problem in row.problems)


def _share_cells(share: RuleShare) -> tuple[str, ...]:
    return (share.rule, f"{share.seconds:.3f}", f"{share.share:.0%}", str(share.findings), share.status)
