"""`python -m benchmarks.capture`: what capture costs, and how fast the store is, beside its peers.

Starts one worker process a measurement, one after the other, each in the virtual environment of its tool, and prints
one table. Ends with 1 if a bar was missed or a figure is void.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.asking import ask
from benchmarks.cases import CASES, OURS, PEERS, Case
from benchmarks.figures import Verdict
from benchmarks.peers import bench_folder
from benchmarks.report import Report
from benchmarks.results import Absent, Answer, OverheadRow, StoreRow, overhead_row, store_rows

STORE_TASKS = {
    "writes": (OURS, "smdebug", "safetensors"),
    "series": (OURS, "smdebug", "safetensors"),
    "scalars": (OURS, "smdebug", "tensorboard"),
}


@dataclass(frozen=True)
class Effort:
    """How much to measure. Peers need fewer triples: their ratios are not held to a bar a few per cent away."""

    scale: float
    peer_triples: int
    blocks: int
    peer_blocks: int
    block_scale: float
    repeats: int
    steps: int
    calls: int


FULL = Effort(scale=1.0, peer_triples=60, blocks=3, peer_blocks=2, block_scale=1.0, repeats=7, steps=1000, calls=5000)
QUICK = Effort(scale=0.06, peer_triples=10, blocks=2, peer_blocks=1, block_scale=0.2, repeats=2, steps=200, calls=500)


class Bench:
    """One run of the benchmark."""

    def __init__(self, effort: Effort, scratch: Path, *, with_peers: bool) -> None:
        self._effort = effort
        self._scratch = scratch
        self._with_peers = with_peers

    def overhead(self, cases: list[Case]) -> list[OverheadRow | Absent]:
        """The rows of these cases, each case's peers right after it."""
        rows: list[OverheadRow | Absent] = []
        for case in cases:
            peers = PEERS[case.mode] if case.with_peers and self._with_peers else ()
            for tool in (OURS, *peers):
                label = case.title if tool == OURS else f"  {tool}"
                answer = self._ask({"task": "overhead", "tool": tool, **self._amount(case, tool)}, case.title)
                row = Absent(label, answer) if isinstance(answer, str) else overhead_row(case, tool, answer)
                rows.append(row)
        return rows

    def store(self) -> list[StoreRow | Absent]:
        """The rows of the store."""
        answers: dict[tuple[str, str], Answer] = {}
        absent: list[Absent] = []
        for task, tools in STORE_TASKS.items():
            for tool in tools if self._with_peers else (OURS,):
                repeats = self._effort.repeats if tool == OURS else max(2, self._effort.repeats // 2)
                amounts = {"repeats": repeats, "steps": self._effort.steps, "calls": self._effort.calls}
                answer = self._ask({"task": task, "tool": tool, **amounts}, f"store: {task}")
                if isinstance(answer, str):
                    absent.append(Absent(f"{task}, {tool}", answer))
                else:
                    answers[task, tool] = answer
        return [*store_rows(answers), *absent]

    def _amount(self, case: Case, tool: str) -> dict[str, Any]:
        effort = self._effort
        ours = tool == OURS
        return {
            "case": case.key,
            "threads": case.threads,
            "triples": max(10, round(case.triples * effort.scale)) if ours else effort.peer_triples,
            "blocks": effort.blocks if ours else effort.peer_blocks,
            "block_steps": max(20, round(case.block * effort.block_scale) // (1 if ours else 4)),
        }

    def _ask(self, job: dict[str, Any], title: str) -> Answer | str:
        """The worker's answer, or in one line why there is none."""
        return ask("benchmarks.worker", job, self._scratch, title, _say)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    effort = QUICK if options.quick else FULL
    scratch_root = options.scratch or bench_folder()
    cases = [case for case in CASES if re.search(options.case, case.key)]
    with tempfile.TemporaryDirectory(dir=scratch_root, prefix="scratch-") as folder:
        scratch = Path(folder)
        bench = Bench(effort, scratch, with_peers=not options.no_peers)
        begin = machine.read_load()
        overhead = bench.overhead(cases)
        store = bench.store() if re.search(options.case, "store") else []
        end = machine.read_load()
    about = {
        **machine.describe(),
        "torch": metadata.version("torch"),
        "others used": f"{begin.others_until(end):.2f} cores",
    }
    report = Report(about, overhead, store)
    sys.stdout.write(report.text())
    if options.json:
        options.json.write_text(json.dumps(report.json(), indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(report.markdown())
    bad = {Verdict.MISSED, Verdict.VOID}
    kept = all(not isinstance(row, Absent) and row.verdict not in bad for row in (*overhead, *store))
    return 0 if kept or options.quick else 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument("--case", default="", metavar="REGEX", help="only the cases whose key matches; `store` is one")
    parser.add_argument("--no-peers", action="store_true", help="measure only this project")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where runs are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
