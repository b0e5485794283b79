"""Runs one measurement in the virtual environment of one tool: `python -m benchmarks.worker JOB RESULT`.

JOB is JSON on the command line, RESULT a file that gets the JSON answer; what the tools print goes where it likes.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from benchmarks import cases, store
from benchmarks.adapters import load
from benchmarks.protocol import measure_blocks, measure_triples


def main(arguments: list[str]) -> None:
    """Do the job and write the answer."""
    job = json.loads(arguments[0])
    torch.set_num_threads(job.get("threads", 1))
    with tempfile.TemporaryDirectory(dir=job["scratch"], prefix="run-") as scratch:
        answer = TASKS[job["task"]](job, Path(scratch))
    answer["version"] = _version(job["tool"])
    Path(arguments[1]).write_text(json.dumps(answer))


def overhead(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Triples and blocks of one case."""
    case = cases.case(job["case"])
    tool = load(job["tool"], case.mode, every=case.every)
    triples = measure_triples(case, tool, scratch / "triples", triples=job["triples"])
    shutil.rmtree(scratch / "triples")
    tool = load(job["tool"], case.mode, every=case.every)
    blocks = measure_blocks(case, tool, scratch / "blocks", repeats=job["blocks"], steps=job["block_steps"])
    times = {name: getattr(triples, name).tolist() for name in ("bare", "again", "captured")}
    return {
        "describes": tool.describes[case.mode],
        "triples": {
            **times,
            "expected_steps": triples.expected_steps,
            "recorded_steps": triples.recorded_steps,
            "same_weights": triples.same_weights,
            "accuracy": None if triples.accuracy is None else dataclasses.asdict(triples.accuracy),
        },
        "blocks": dataclasses.asdict(blocks),
    }


def writes(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Rates of writing full tensors."""
    return dataclasses.asdict(store.measure_writes(job["tool"], scratch, repeats=job["repeats"]))


def series(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Times of reading one small tensor at many steps."""
    return dataclasses.asdict(store.measure_series(job["tool"], scratch, repeats=job["repeats"], steps=job["steps"]))


def scalars(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Times of `save_scalar`."""
    return {"microseconds": store.measure_scalars(job["tool"], scratch, calls=job["calls"])}


TASKS = {"overhead": overhead, "writes": writes, "series": series, "scalars": scalars}


def _version(tool: str) -> str:
    return metadata.version(tool)


if __name__ == "__main__":
    main(sys.argv[1:])
