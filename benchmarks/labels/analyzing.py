"""Time and memory of `cutaway analyze RUN`, and of each of its parts, by when they are printed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["measure_command", "parts_of"]

# What follows the last part: where things are, and what to ask next.
END = ("kept in", "files", "next")


def measure_command(run: Path, scratch: Path) -> dict[str, Any]:
    """Run the command on a run that nobody analysed yet."""
    errors = scratch / "errors"
    command = [sys.executable, "-m", "cutaway", "analyze", str(run)]
    began = time.perf_counter()
    with errors.open("w") as file:
        variables = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, env=variables)
        assert process.stdout is not None
        lines = [(time.perf_counter() - began, line) for line in process.stdout]
        code = process.wait()
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = errors.read_text().splitlines()
    return {
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        # Of the largest process; this one, which started it, is small.
        "peak_mb": used.ru_maxrss / 1024,
        "code": code,
        "parts": parts_of(lines),
        "progress": sum(" %, " in line for line in said),
        "last": said[-1] if said else "",
    }


def parts_of(lines: Iterable[tuple[float, str]]) -> list[dict[str, Any]]:
    """Each part with the seconds since the one before it; `reason` where it does not apply.

    The first line names the run. A part is a line that begins at the margin; what it says is indented.
    """
    parts: list[dict[str, Any]] = []
    before = 0.0
    for number, (at, line) in enumerate(lines):
        if number == 0:
            before = at
            parts.append({"part": "opening", "seconds": at, "reason": ""})
        elif line.strip() and not line.startswith((" ", *END)):
            title, _, reason = line.strip().partition("  does not apply: ")
            parts.append({"part": title, "seconds": at - before, "reason": reason})
            before = at
    return parts
