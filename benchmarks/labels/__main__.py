"""`python -m benchmarks.labels`: how well wrong labels and weak slices are found, what fixing buys, and what it takes.

Starts worker processes of one thread each, as many at a time as there are cores, and prints one table. The command
that is timed runs alone. Ends with 1 if a bar was missed or a figure is void or absent.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.asking import ask
from benchmarks.cases import OURS
from benchmarks.figures import Verdict
from benchmarks.labels import results, scored
from benchmarks.labels.jobs import FULL, QUICK, chunks, finding_cases, mending_cases, scoring_cases
from benchmarks.labels.packages import PackageUnavailable, fetched
from benchmarks.labels.picture import reliability_svg
from benchmarks.labels.report import markdown, text
from benchmarks.labels.sets import SETS
from benchmarks.labels.tables import COMBINING
from benchmarks.peers import PeerUnavailable, bench_folder, interpreter
from benchmarks.population.images import VARIABLE, find_mnist
from benchmarks.population.results import Judge
from benchmarks.results import Absent, Answer, StoreRow

PARTS = ("mislabeled", "scores", "fix", "verdicts", "slices", "whole")
PEER = "cleanlab"
# Data sets of packages on which corrections are tried.
MENDED = ("Fashion-MNIST", "letters")
# The trainings in folds are for one length of training and one seed.
FOLDED = {"epochs": 4, "seed": 0}
# So many tables are searched by one worker, and so many trials of trainings are done.
TABLES, TRIALS = 4, 10
# Five trainings of a CNN take a minute or two, and several times that where others use the cores.
SECONDS = 1_800
NO_MNIST = f"real MNIST was not found: give the mnist.npz of Keras by --mnist FILE or {VARIABLE}=FILE"
Row = StoreRow | Absent


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    mnist = find_mnist(options.mnist)
    notes = ["A short smoke run on few samples: nothing is judged."] if options.quick else []
    with tempfile.TemporaryDirectory(dir=options.scratch or bench_folder(), prefix="scratch-") as folder:
        measured = Measured(options, mnist, Path(folder))
        begin = machine.read_load()
        rows = measured.rows()
        end = machine.read_load()
    about = {**machine.describe(), "others used": f"{begin.others_until(end):.2f} cores"}
    sys.stdout.write(text(about, rows, measured.reliability, notes))
    if options.json:
        told = {"rows": [dataclasses.asdict(row) for row in rows], "answers": measured.answers}
        options.json.write_text(json.dumps({"machine": about, "notes": notes, **told}, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(about, rows, measured.reliability, notes))
    bad = {Verdict.MISSED, Verdict.VOID}
    kept = all(not isinstance(row, Absent) and row.verdict not in bad for row in rows)
    return 0 if kept or options.quick else 1


class Measured:
    """Runs the parts that were asked for. `answers` and `reliability` fill as they are measured."""

    def __init__(self, options: argparse.Namespace, mnist: Path | None, scratch: Path) -> None:
        self._options, self._mnist, self._scratch = options, None if mnist is None else str(mnist), scratch
        self._judge = Judge(holds=not options.quick, bars=results.BARS | scored.BARS)
        self._size = QUICK if options.quick else FULL
        self.answers: dict[str, Any] = {}
        self.reliability: dict[str, list[tuple[str, ...]]] = {}

    def rows(self) -> list[Row]:
        """The rows of all parts, in their order."""
        return [row for part in self._options.part or PARTS for row in getattr(self, f"_{part}")()]

    def _mislabeled(self) -> list[Row]:
        cases = finding_cases(mnist=self._mnist is not None)
        jobs = [
            {**case, "seed": seed, "source": self._mnist if case["setting"] == "MNIST" else None}
            for case in cases
            for seed in range(self._size.finding)
        ]
        peer = None if self._options.no_peers else _unavailable(PEER)
        found = self._in_parallel(lambda job: self._found(job, peer), jobs)
        self.answers["mislabeled"] = [{**job, "answer": answer} for job, answer in zip(jobs, found, strict=True)]
        rows: list[Row] = [] if self._mnist else [Absent("mislabeled: MNIST", NO_MNIST)]
        for case in cases:
            mine = [one for job, one in zip(jobs, found, strict=True) if case.items() <= job.items()]
            label = f"mislabeled: {case['setting']}, {case['rate']:.0%} {case['kind']}"
            rows += _unless_failed(label, mine) or results.finding_rows(case, _answered(mine), self._judge)
        for setting in dict.fromkeys(case["setting"] for case in cases):
            mine = [one for job, one in zip(jobs, found, strict=True) if job["setting"] == setting]
            self.reliability[setting] = results.reliability_lines(_answered(mine))
        return rows

    def _found(self, job: dict[str, Any], unavailable: str | None) -> Answer | str:
        title = f"mislabeled, {job['setting']}, {job['rate']:.0%} {job['kind']}, seed {job['seed']}"
        folds = self._scratch / f"{title.replace(' ', '')}.npz"
        asked = {"task": "finding", **job, "folds": None if self._options.no_peers else str(folds)}
        answer = self._ask(asked, title)
        if isinstance(answer, str) or self._options.no_peers:
            return answer
        if unavailable:
            return answer | {"margin_precision": unavailable}
        theirs = ask("benchmarks.labels.margins", {"tool": PEER, "folds": str(folds)}, self._scratch, title, _say)
        return answer | {"margin_precision": theirs if isinstance(theirs, str) else theirs["precision"]}

    def _scores(self) -> list[Row]:
        sources, rows = self._sets()
        jobs = [{**case, "source": sources[case["setting"]]} for case in scoring_cases(self._size, sources)]
        peer = None if self._options.no_peers else _unavailable(PEER)
        found = self._in_parallel(lambda job: self._scored(job, peer), jobs)
        told = [{**job, **answer} for job, answer in zip(jobs, found, strict=True) if not isinstance(answer, str)]
        self.answers["scores"] = told
        rows += [
            Absent(f"scores: {job['setting']}", one)
            for job, one in zip(jobs, found, strict=True)
            if isinstance(one, str)
        ]
        for name, held in (("held back", True), ("looked at", False)):
            mine = [one for one in told if SETS[one["setting"]].held_back is held]
            rows += scored.score_rows(name, mine, self._judge)
            if held and self._options.picture:
                title = "Scores beside the share that is wrong, of cases that were held back"
                self._options.picture.write_text(reliability_svg(scored.curve(mine), title))
        return rows

    def _scored(self, job: dict[str, Any], unavailable: str | None) -> Answer | str:
        title = f"scores, {job['setting']}, {job['epochs']} epochs, {job['kind']}, seed {job['seed']}"
        with_peer = not self._options.no_peers and not unavailable and FOLDED.items() <= job.items()
        folds = self._scratch / f"{title.replace(' ', '')}.npz"
        answer = self._ask({"task": "scoring", **job, "folds": str(folds) if with_peer else None}, title)
        if isinstance(answer, str) or not with_peer or not answer["wrong"]:
            return answer
        theirs = ask("benchmarks.labels.margins", {"tool": PEER, "folds": str(folds)}, self._scratch, title, _say)
        return answer | {"margin_precision": theirs if isinstance(theirs, str) else theirs["precision"]}

    def _sets(self) -> tuple[dict[str, str | None], list[Row]]:
        """Where the sets lie that scores are judged on, and a row for each that is not to be had."""
        sources: dict[str, str | None] = {}
        absent: list[Row] = []
        for name, data in SETS.items():
            if data.source == "MNIST":
                if self._mnist is None:
                    absent.append(Absent(f"scores: {name}", NO_MNIST))
                else:
                    sources[name] = self._mnist
            elif not data.source:
                sources[name] = None
            elif not self._options.no_packages:
                try:
                    sources[name] = str(fetched(data.source, _say))
                except PackageUnavailable as error:
                    absent.append(Absent(f"scores: {name}", str(error)))
        return sources, absent

    def _fix(self) -> list[Row]:
        sources, rows = self._sources()
        jobs = [{**case, "source": sources[case["setting"]]} for case in mending_cases(self._size, sources)]
        peer = None if self._options.no_peers else _unavailable(PEER)
        found = self._in_parallel(lambda job: self._mended(job, peer), jobs)
        self.answers["fix"] = [{**job, "answer": answer} for job, answer in zip(jobs, found, strict=True)]
        for setting in sources:
            mine = [
                answer if isinstance(answer, str) else {"kind": job["kind"], **answer}
                for job, answer in zip(jobs, found, strict=True)
                if job["setting"] == setting
            ]
            rows += _unless_failed(f"fix: {setting}", mine) or results.mending_rows(
                setting, _answered(mine), self._judge
            )
        return rows

    def _sources(self) -> tuple[dict[str, str | None], list[Row]]:
        """Where the data of each setting lie, and a row for each that is not to be had."""
        sources: dict[str, str | None] = {"digits": None}
        absent: list[Row] = []
        if self._mnist is None:
            absent.append(Absent("fix: MNIST", NO_MNIST))
        else:
            sources |= dict.fromkeys(("MNIST", "MNIST, 2 epochs"), self._mnist)
        for name in MENDED if not self._options.no_packages else ():
            try:
                sources[name] = str(fetched(name, _say))
            except PackageUnavailable as error:
                absent.append(Absent(f"fix: {name}", str(error)))
        return sources, absent

    def _mended(self, job: dict[str, Any], unavailable: str | None) -> Answer | str:
        title = f"fix, {job['setting']}, {job['rate']:.0%} {job['kind']}, seed {job['seed']}"
        with_peer = not self._options.no_peers and not unavailable
        folds = str(self._scratch / f"{title.replace(' ', '')}.npz") if with_peer else None
        answer = self._ask({"task": "mending", **job, "folds": folds}, title)
        if isinstance(answer, str) or not with_peer:
            return answer if isinstance(answer, str) or not unavailable else answer | {"peer": unavailable}
        theirs = ask("benchmarks.labels.margins", {"tool": PEER, "folds": folds}, self._scratch, title, _say)
        if isinstance(theirs, str):
            return answer | {"peer": theirs}
        return answer | {"peer": self._ask({"task": "pruning", **job, "issues": theirs["issues"]}, f"{title}, pruned")}

    def _verdicts(self) -> list[Row]:
        jobs = [{"task": "verdicts", "seeds": seeds} for seeds in chunks(range(self._size.verdicts), TRIALS)]
        found = self._in_parallel(lambda job: self._ask(job, f"verdicts {job['seeds']}"), jobs)
        verdicts = [verdict for answer in _answered(found) for verdict in answer["verdicts"]]
        self.answers["verdicts"] = verdicts
        return _unless_failed("verdicts", found) or results.verdict_rows(verdicts, self._judge)

    def _slices(self) -> list[Row]:
        jobs: list[dict[str, Any]] = [
            {"task": "planted", "combining": combining, "seeds": seeds}
            for combining in COMBINING
            for seeds in chunks(range(self._size.planted), TABLES)
        ]
        jobs += [{"task": "clean", "seeds": seeds} for seeds in chunks(range(self._size.clean), TABLES)]
        found = self._in_parallel(lambda job: self._ask(job, f"slices, {job['task']} {job['seeds']}"), jobs)
        planted: dict[str, list[Answer]] = {combining: [] for combining in COMBINING}
        clean: list[Answer] = []
        for job, answer in zip(jobs, found, strict=True):
            rows = [] if isinstance(answer, str) else answer["rows"]
            (clean if job["task"] == "clean" else planted[job["combining"]]).extend(rows)
        self.answers["slices"] = {"planted": planted, "clean": clean}
        return _unless_failed("slices", found) or results.slice_rows(planted, clean, self._judge)

    def _whole(self) -> list[Row]:
        # Alone, with all cores: this is the part about time.
        every = {"run": str(self._scratch / "run"), "threads": os.cpu_count()}
        made = self._ask({"task": "make", "samples": self._size.whole, **every}, "whole, training and evaluating")
        if isinstance(made, str):
            return [Absent("whole", made)]
        answer = self._ask({"task": "analyze", **every}, "whole, cutaway analyze")
        if isinstance(answer, str):
            return [Absent("whole", answer)]
        self.answers["whole"] = {"made": made, "analyzed": answer}
        return results.whole_rows(made, answer, self._judge)

    def _in_parallel(
        self, measure: Callable[[dict[str, Any]], Answer | str], jobs: list[dict[str, Any]]
    ) -> list[Answer | str]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(measure, jobs))

    def _ask(self, job: dict[str, Any], title: str) -> Answer | str:
        given = {"tool": OURS, "mnist": self._mnist, "share": self._size.share, **job}
        return ask("benchmarks.labels.worker", given, self._scratch, title, _say, limit=SECONDS)


def _unless_failed(label: str, answers: list[Answer | str]) -> list[Row]:
    """Where an answer is missing, a row that says why: a figure of the other seeds would flatter."""
    reasons = [one for one in answers if isinstance(one, str)]
    return [Absent(label, reasons[0])] if reasons else []


def _answered(answers: list[Answer | str]) -> list[Answer]:
    return [one for one in answers if not isinstance(one, str)]


def _unavailable(tool: str) -> str | None:
    """Make the environment of a peer, once for all workers; return why there is none."""
    try:
        interpreter(tool, _say)
    except PeerUnavailable as error:
        return str(error)
    return None


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; give it again for more")
    parser.add_argument("--no-peers", action="store_true", help="leave the trainings in folds and cleanlab out")
    parser.add_argument("--mnist", type=Path, metavar="FILE", help=f"mnist.npz in Keras' layout (default: {VARIABLE})")
    parser.add_argument("--no-packages", action="store_true", help="fetch no package that has a data set")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw the reliability of the scores as SVG")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where files are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row and answer as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
