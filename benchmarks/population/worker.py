"""Runs one measurement: `python -m benchmarks.population.worker JOB RESULT`.

JOB is JSON on the command line, RESULT a file that gets the JSON answer. Maps have workers of their own, which import
no more than they need.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.population.prepared import Prepared, Sizes, prepare


def main(arguments: list[str]) -> None:
    """Do the job and write the answer."""
    job = json.loads(arguments[0])
    if job["task"] == "prepare":
        made = prepare(Path(job["mnist"]) if job["mnist"] else None, Sizes(**job["sizes"]))
        answer: dict[str, Any] = {"folder": str(made.folder), "about": made.about}
    else:
        folder = Path(job["folder"])
        prepared = Prepared(folder, json.loads((folder / "about.json").read_text()))
        answer = _task(job["task"])(job, prepared)
    Path(arguments[1]).write_text(json.dumps(answer))


def _task(name: str) -> Callable[[dict[str, Any], Prepared], dict[str, Any]]:
    """The function of a task; only its own packages are imported."""
    if name == "align":
        from benchmarks.population.aligning import measure_alignment

        return measure_alignment
    if name == "heat maps":
        from benchmarks.population.heat_maps import measure_heat_maps

        return measure_heat_maps
    if name == "sanity":
        from benchmarks.population.sanity import measure_sanity

        return measure_sanity
    from benchmarks.population import similars

    return {"exact": similars.measure_exact, "large": similars.measure_large, "fours": similars.measure_closed_fours}[
        name
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
