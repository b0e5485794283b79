"""Runs one measurement of rules in the environment of one tool: `python -m benchmarks.rules_worker JOB RESULT`.

JOB is JSON on the command line, RESULT a file that gets the JSON answer.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from benchmarks import rules_invoked


def main(arguments: list[str]) -> None:
    """Do the job and write the answer."""
    job = json.loads(arguments[0])
    torch.set_num_threads(1)
    answer = TASKS[job["task"]](job, Path(job["scratch"]))
    answer["version"] = metadata.version(job["tool"])
    Path(arguments[1]).write_text(json.dumps(answer))


# Only this project's environment has what the modules below import: they come when they are needed.


def write(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """The long run, for others to look at."""
    from benchmarks.rules_run import write_long_run

    del scratch
    return dataclasses.asdict(write_long_run(Path(job["folder"]), job["steps"]))


def look(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """All rules over the long run."""
    from benchmarks.rules_looking import linked, look

    with linked(Path(job["folder"]), scratch / "run") as folder:
        return dataclasses.asdict(look(folder))


def command(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """The command over the long run."""
    from benchmarks.rules_looking import linked, time_command

    with linked(Path(job["folder"]), scratch / "run") as folder:
        return {"seconds": time_command(folder)}


def invoke(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """The rules of a tool over the short run that its own hook writes; the first time of each is not counted."""
    tool = rules_invoked.load(job["tool"])
    folder = scratch / "run"
    rules_invoked.train(tool, folder)
    times = {name: [tool.invoked(folder, name) for _ in range(job["repeats"] + 1)][1:] for name in tool.rules}
    return {"rules": {name: [dataclasses.asdict(one) for one in repeats] for name, repeats in times.items()}}


def latency(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """How soon findings are there."""
    from benchmarks.rules_live import measure_latency

    return dataclasses.asdict(measure_latency(scratch, plants=job["plants"]))


def slowdown(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """What a watcher costs."""
    from benchmarks.rules_live import measure_slowdown

    return dataclasses.asdict(measure_slowdown(scratch, triples=job["triples"]))


TASKS = {
    "write": write,
    "look": look,
    "command": command,
    "invoke": invoke,
    "latency": latency,
    "slowdown": slowdown,
}


if __name__ == "__main__":
    main(sys.argv[1:])
