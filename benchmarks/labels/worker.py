"""Runs one measurement: `python -m benchmarks.labels.worker JOB RESULT`.

JOB is JSON on the command line, RESULT a file that gets the JSON answer. Each task imports its own packages only: the
one that measures the memory of a command must be small itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> None:
    """Do the job and write the answer."""
    job = json.loads(arguments[0])
    Path(arguments[1]).write_text(json.dumps(TASKS[job["task"]](job)))


def _finding(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.finding import measure_finding

    return measure_finding(job)


def _scoring(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.scoring import measure_scoring

    return measure_scoring(job)


def _mending(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.mending import measure_mending

    return measure_mending(job)


def _pruning(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.mending import measure_pruning

    return measure_pruning(job)


def _verdicts(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.verdicts import measure_verdicts

    return measure_verdicts(job["seeds"])


def _planted(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.slices import run_planted

    return {"rows": [run_planted(seed, combining=job["combining"]) for seed in job["seeds"]]}


def _clean(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.slices import run_clean

    return {"rows": [run_clean(seed) for seed in job["seeds"]]}


def _made(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.large_run import make_run

    return make_run(Path(job["mnist"]) if job["mnist"] else None, job["samples"], Path(job["run"]))


def _analyzed(job: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.labels.analyzing import measure_command

    return measure_command(Path(job["run"]), Path(job["scratch"]))


TASKS = {
    "finding": _finding,
    "scoring": _scoring,
    "mending": _mending,
    "pruning": _pruning,
    "verdicts": _verdicts,
    "planted": _planted,
    "clean": _clean,
    "make": _made,
    "analyze": _analyzed,
}


if __name__ == "__main__":
    main(sys.argv[1:])
