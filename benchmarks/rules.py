"""`python -m benchmarks.rules`: how fast rules look, how soon they tell, and what watching costs the training.

Starts one worker process a measurement, one after the other, and prints one table. Ends with 1 if a bar was missed or
a figure is void.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.asking import ask
from benchmarks.cases import OURS
from benchmarks.figures import Verdict
from benchmarks.peers import bench_folder
from benchmarks.results import Absent, Answer, StoreRow
from benchmarks.rules_report import RulesReport
from benchmarks.rules_results import (
    RuleShare,
    command_row,
    invoke_rows,
    latency_row,
    look_row,
    slowdown_row,
    slowest,
)

PEER = "smdebug"
PARTS = ("look", "invoke", "latency", "slowdown")
# As benchmarks.rules_invoked has them; that module needs torch, and this process does not.
INVOKED_STEPS, VANISHED_FROM = 300, 200


@dataclass(frozen=True)
class Effort:
    """How much to measure."""

    steps: int
    looks: int
    commands: int
    repeats: int
    plants: int
    triples: int


FULL = Effort(steps=10_000, looks=5, commands=3, repeats=7, plants=20, triples=30)
QUICK = Effort(steps=1_000, looks=2, commands=1, repeats=2, plants=3, triples=3)


class Bench:
    """One run of the benchmark."""

    def __init__(self, effort: Effort, scratch: Path, *, with_peers: bool) -> None:
        self._effort = effort
        self._scratch = scratch
        self._with_peers = with_peers
        self.shares: list[RuleShare] = []

    def rows(self, parts: list[str]) -> list[StoreRow | Absent]:
        """The rows of some parts."""
        measures = {
            "look": self._look,
            "invoke": self._invoke,
            "latency": self._latency,
            "slowdown": self._slowdown,
        }
        return [row for part in parts for row in measures[part]()]

    def _look(self) -> list[StoreRow | Absent]:
        """All rules over one long run, which is written once."""
        label = f"all rules over {self._effort.steps:,} steps"
        folder = str(self._scratch / "long")
        run = self._ask("write", "the long run", folder=folder, steps=self._effort.steps)
        if isinstance(run, str):
            return [Absent(label, run)]
        looks: list[Answer] = []
        commands: list[Answer] = []
        for task, count, answers in (("look", self._effort.looks, looks), ("command", self._effort.commands, commands)):
            for _ in range(count):
                answer = self._ask(task, label, folder=folder)
                if isinstance(answer, str):
                    return [Absent(label, answer)]
                answers.append(answer)
        self.shares = slowest(looks)
        return [look_row(run, looks), command_row(commands)]

    def _invoke(self) -> list[StoreRow | Absent]:
        """One rule over a short run, beside the peer's."""
        ours = self._ask("invoke", "invoke_rule", repeats=self._effort.repeats)
        if isinstance(ours, str):
            return [Absent("invoke_rule", ours)]
        peer = self._ask("invoke", "invoke_rule", tool=PEER, repeats=self._effort.repeats) if self._with_peers else None
        found = None if isinstance(peer, str) else peer
        called = PEER if found is None else f"{PEER} {found['version']}"
        rows = invoke_rows(ours, found, called, INVOKED_STEPS, range(VANISHED_FROM, INVOKED_STEPS))
        return [*rows, Absent(f"  {PEER}", peer)] if isinstance(peer, str) else [*rows]

    def _latency(self) -> list[StoreRow | Absent]:
        answer = self._ask("latency", "a finding after its step's end", plants=self._effort.plants)
        return [Absent("a finding after its step's end", answer) if isinstance(answer, str) else latency_row(answer)]

    def _slowdown(self) -> list[StoreRow | Absent]:
        answer = self._ask("slowdown", "training beside a watcher", triples=self._effort.triples)
        return [Absent("training beside a watcher", answer) if isinstance(answer, str) else slowdown_row(answer)]

    def _ask(self, task: str, title: str, *, tool: str = OURS, **amounts: Any) -> Answer | str:
        """The worker's answer, or in one line why there is none."""
        job = {"task": task, "tool": tool, **amounts}
        return ask("benchmarks.rules_worker", job, self._scratch, title, _say)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory(dir=options.scratch or bench_folder(), prefix="scratch-") as folder:
        bench = Bench(QUICK if options.quick else FULL, Path(folder), with_peers=not options.no_peers)
        begin = machine.read_load()
        rows = bench.rows([options.part] if options.part else list(PARTS))
        end = machine.read_load()
    about = {
        **machine.describe(),
        "torch": metadata.version("torch"),
        "others used": f"{begin.others_until(end):.2f} cores",
    }
    report = RulesReport(about, rows, bench.shares)
    sys.stdout.write(report.text())
    if options.json:
        options.json.write_text(json.dumps(report.json(), indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(report.markdown())
    bad = {Verdict.MISSED, Verdict.VOID}
    kept = all(not isinstance(row, Absent) and row.verdict not in bad for row in rows)
    return 0 if kept or options.quick else 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument("--part", choices=PARTS, help="only one of the measurements")
    parser.add_argument("--no-peers", action="store_true", help="measure only this project")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where runs are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
