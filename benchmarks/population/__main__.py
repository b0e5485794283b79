"""`python -m benchmarks.population`: maps, similar samples and heat maps beside umap-learn, PaCMAP, faiss and captum.

Starts one worker process a measurement, one after the other, and prints one table. Ends with 1 if a bar was missed or
a figure is void.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.asking import ask
from benchmarks.cases import OURS
from benchmarks.figures import Verdict
from benchmarks.peers import bench_folder
from benchmarks.population import results
from benchmarks.population.images import VARIABLE, find_mnist
from benchmarks.population.mapping import measure_maps
from benchmarks.population.prepared import FULL, QUICK, Prepared
from benchmarks.population.report import markdown, text
from benchmarks.results import Absent, Answer, StoreRow

PARTS = ("map", "align", "similar", "heatmap", "sanity")
Row = StoreRow | Absent


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    mnist = find_mnist(options.mnist)
    with tempfile.TemporaryDirectory(dir=options.scratch or bench_folder(), prefix="scratch-") as folder:
        measured = Measured(options, mnist, Path(folder))
        begin = machine.read_load()
        rows = measured.rows()
        end = machine.read_load()
    about = {**machine.describe(), "data": measured.data, "others used": f"{begin.others_until(end):.2f} cores"}
    sys.stdout.write(text(about, rows, measured.notes))
    if options.json:
        content = {"machine": about, "notes": measured.notes, "rows": [dataclasses.asdict(row) for row in rows]}
        options.json.write_text(json.dumps(content, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(about, rows, measured.notes))
    bad = {Verdict.MISSED, Verdict.VOID}
    kept = all(not isinstance(row, Absent) and row.verdict not in bad for row in rows)
    return 0 if kept or options.quick else 1


class Measured:
    """Runs the parts that were asked for on the data that was found."""

    def __init__(self, options: argparse.Namespace, mnist: Path | None, scratch: Path) -> None:
        self._options, self._scratch = options, scratch
        self._judge = results.Judge(holds=mnist is not None and not options.quick)
        sizes = QUICK if options.quick else FULL
        job = {"task": "prepare", "mnist": None if mnist is None else str(mnist), "sizes": asdict(sizes)}
        made = self._ask({**job, "threads": os.cpu_count()}, "training")
        if isinstance(made, str):
            sys.exit(f"No latent vectors could be made: {made}")
        self._prepared = Prepared(Path(made["folder"]), made["about"])
        about = made["about"]
        self.data = f"{about['data']}, {about['accuracy']:.1%} of the test images read correctly"
        self.notes = _notes(real=mnist is not None, quick=options.quick)

    def rows(self) -> list[Row]:
        """The rows of all parts, in their order."""
        parts = [self._options.part] if self._options.part else PARTS
        return [row for part in parts for row in getattr(self, f"_{part}")()]

    def _map(self) -> list[Row]:
        repeats = 1 if self._options.quick else 3
        answer = measure_maps(self._prepared, self._scratch, _say, repeats=repeats, peers=not self._options.no_peers)
        return results.map_rows(answer, self._judge)

    def _align(self) -> list[Row]:
        job = {"task": "align", "seeds": 1 if self._options.quick else 3, "threads": os.cpu_count()}
        return self._rows_of(job, "align", results.alignment_rows)

    def _similar(self) -> list[Row]:
        quick = self._options.quick
        turns = {"singles": 50, "batches": 3, "batch": 500} if quick else {"singles": 300, "batches": 15, "batch": 1000}
        exact = {"task": "exact", "threads": os.cpu_count(), **turns}
        rows = self._rows_of({**exact, "array": "latents_2", "rows": None}, "similar, exact", results.exact_rows)
        if not quick:
            wide = {**exact, "array": "large", "rows": 200_000, "singles": 100, "batches": 7}
            rows += self._rows_of(wide, "similar, exact, 200,000", results.exact_rows)
        large = {"task": "large", "singles": 10 if quick else 60, "force": quick, "threads": os.cpu_count()}
        rows += self._rows_of(large, "similar, large", results.large_rows)
        fours = {"task": "fours", "threads": os.cpu_count()}
        return rows + self._rows_of(fours, "closed fours", lambda *given: [results.fours_row(*given)])

    def _heatmap(self) -> list[Row]:
        return self._rows_of(
            {"task": "heat maps", "turns": 15 if self._options.quick else 150}, "heat maps", results.heat_map_rows
        )

    def _sanity(self) -> list[Row]:
        job = {"task": "sanity", "samples": 20 if self._options.quick else 300, "seed": 0, "threads": os.cpu_count()}
        return self._rows_of(job, "sanity", results.sanity_rows)

    def _rows_of(self, job: dict[str, Any], title: str, make: Any) -> list[Row]:
        found = self._ask({**job, "folder": str(self._prepared.folder)}, title)
        return [Absent(title, found)] if isinstance(found, str) else list(make(found, self._judge))

    def _ask(self, job: dict[str, Any], title: str) -> Answer | str:
        return ask("benchmarks.population.worker", {"tool": OURS, **job}, self._scratch, title, _say)


def _notes(*, real: bool, quick: bool) -> list[str]:
    notes = []
    if not real:
        notes.append(
            "The bars are for real MNIST, which was not found, so nothing is judged. Give the mnist.npz of Keras by "
            f"--mnist FILE or {VARIABLE}=FILE."
        )
    if quick:
        notes.append("A short smoke run on few samples: nothing is judged.")
    return notes


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.population", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument("--part", choices=PARTS, help="only one of the parts")
    parser.add_argument("--no-peers", action="store_true", help="leave umap-learn and PaCMAP out")
    parser.add_argument("--mnist", type=Path, metavar="FILE", help=f"mnist.npz in Keras' layout (default: {VARIABLE})")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where files are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
