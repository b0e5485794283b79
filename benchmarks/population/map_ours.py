"""Makes one map in a process of its own: `python -m benchmarks.population.map_ours JOB RESULT`.

JOB says when the process was started; the clock runs from there, so that Python, imports and reading are in it. So it
imports nothing that a person who wants a map would not.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Make the map, write it, and say how long that took and what memory."""
    job = json.loads(arguments[0])
    import numpy as np

    from cutaway.analysis import Population

    imported = time.monotonic()
    latents = np.load(job["latents"])
    begin = time.perf_counter()
    positions = Population.from_arrays(latents).map(job["method"])
    called = time.perf_counter() - begin
    np.save(job["positions"], positions)
    answer = {
        "seconds": time.monotonic() - job["started"],
        "importing": imported - job["started"],
        "called": called,
        "peak_mb": peak_mb(),
    }
    Path(arguments[1]).write_text(json.dumps(answer))


def peak_mb() -> float:
    """The most memory that this process had. Not that of `getrusage`, which begins with the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


if __name__ == "__main__":
    main(sys.argv[1:])
