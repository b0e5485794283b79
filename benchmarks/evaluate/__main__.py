"""`python -m benchmarks.evaluate`: how fast `evaluate` is beside the bare framework, and what memory it takes.

Starts one worker process a measurement, one after the other, and prints one table. Ends with 1 if a bar was missed or
a figure is void.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.asking import ask
from benchmarks.cases import OURS
from benchmarks.evaluate.results import memory_row, overlap_row, speed_row
from benchmarks.figures import Verdict
from benchmarks.peers import bench_folder
from benchmarks.report import STORE_HEAD, markdown_table, store_cells, text_table
from benchmarks.results import Absent, Answer, StoreRow

HEAD = ("evaluate", *STORE_HEAD[1:])
LABELS = {"torch": "live torch module", "onnx": ".onnx file in its child", "keras": ".keras file in its child"}
LEGEND = (
    "live module, files: samples/s of the whole `evaluate` call (predictions, latents, loss, metric, hashes, previews,",
    "  files) over those of the bare framework in this process on the same arrays; one thread for the model in both.",
    "slow encoder: encoding and predicting one after the other, over `evaluate` with two encoding threads.",
    "verdict: missed only if the whole interval lies beyond the bar; void if predictions differ or samples lack.",
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory(dir=options.scratch or bench_folder(), prefix="scratch-") as folder:
        begin = machine.read_load()
        rows = _rows(options, Path(folder))
        end = machine.read_load()
    about = {**machine.describe(), "others used": f"{begin.others_until(end):.2f} cores"}
    cells = [store_cells(row) for row in rows]
    problems = [f"{row.label}: {one}." for row in rows if isinstance(row, StoreRow) for one in row.problems]
    parts = [" · ".join(f"{name} {value}" for name, value in about.items()), text_table(HEAD, cells), "\n".join(LEGEND)]
    sys.stdout.write("\n\n".join([*parts, *problems]) + "\n")
    if options.json:
        content = {"machine": about, "rows": [dataclasses.asdict(row) for row in rows]}
        options.json.write_text(json.dumps(content, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown_table(HEAD, cells) + "\n")
    bad = {Verdict.MISSED, Verdict.VOID}
    kept = all(not isinstance(row, Absent) and row.verdict not in bad for row in rows)
    return 0 if kept or options.quick else 1


def _rows(options: argparse.Namespace, scratch: Path) -> list[StoreRow | Absent]:
    parts = [options.part] if options.part else [*LABELS, "overlap", "memory"]
    rows: list[StoreRow | Absent] = []
    for part in parts:
        if part in LABELS:
            job = {"task": "against_bare", "subject": part, "samples": 1280 if options.quick else 12_800}
            found = _ask({**job, "repeats": 2 if options.quick else 7}, LABELS[part], scratch)
            rows.append(Absent(LABELS[part], found) if isinstance(found, str) else speed_row(LABELS[part], found))
        elif part == "overlap":
            job = {"task": "overlap", "samples": 256 if options.quick else 2560, "pause": 0.0005, "repeats": 3}
            found = _ask(job, "slow encoder", scratch)
            rows.append(Absent("slow encoder", found) if isinstance(found, str) else overlap_row(found))
        else:
            rows.append(_memory(scratch, quick=options.quick))
    return rows


def _memory(scratch: Path, *, quick: bool) -> StoreRow | Absent:
    sizes = (10_000, 100_000) if quick else (100_000, 1_000_000)
    answers = [_ask({"task": "memory", "samples": size}, f"{size:,} samples", scratch) for size in sizes]
    small, large = answers
    if isinstance(small, str) or isinstance(large, str):
        return Absent("memory", next(one for one in answers if isinstance(one, str)))
    return memory_row(small, large)


def _ask(job: dict[str, Any], title: str, scratch: Path) -> Answer | str:
    return ask("benchmarks.evaluate.worker", {"tool": OURS, **job}, scratch, title, _say)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluate", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument("--part", choices=[*LABELS, "overlap", "memory"], help="only one of the measurements")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where runs are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
