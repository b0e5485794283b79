"""Runs some measurements: `python -m benchmarks.insights.worker JOB RESULT`, JSON and a file for the answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Do the jobs and write the answers."""
    from benchmarks.insights.measuring import measure_insights

    job = json.loads(arguments[0])
    answers = [{"seed": seed, **measure_insights({**job, "seed": seed})} for seed in job["seeds"]]
    Path(arguments[1]).write_text(json.dumps({"answers": answers}))


if __name__ == "__main__":
    main(sys.argv[1:])
