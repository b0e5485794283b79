"""Starts one worker process for one measurement, in the virtual environment of its tool, and brings its answer back."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import ROOT, PeerUnavailable, environment, interpreter
from benchmarks.results import Answer

__all__ = ["WORKER_LIMIT", "ask"]

WORKER_LIMIT = 600


def ask(
    worker: str,
    job: dict[str, Any],
    scratch: Path,
    title: str,
    say: Callable[[str], None],
    *,
    limit: int = WORKER_LIMIT,
) -> Answer | str:
    """The worker's answer, or in one line why there is none."""
    tool = job["tool"]
    begin = time.monotonic()
    try:
        python = interpreter(tool, say)
    except PeerUnavailable as error:
        return str(error)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        result = Path(folder) / "result.json"
        command = [str(python), "-m", worker, json.dumps({**job, "scratch": folder}), str(result)]
        variables = environment(tool, threads=job.get("threads", 1))
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=limit
            )
        except subprocess.TimeoutExpired:
            return f"took longer than {limit} s"
        if done.returncode or not result.exists():
            return _last_line(done.stderr) or f"its worker ended with {done.returncode}"
        answer: Answer = json.loads(result.read_text())
    say(f"{title}, {tool}: {time.monotonic() - begin:.0f} s")
    return answer


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
