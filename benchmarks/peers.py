"""Makes and finds the virtual environments of the peers, under `.bench/venvs` in the checkout."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / ".bench"
REQUIREMENTS = Path(__file__).resolve().parent / "peers"
# Which environment has which tool; ours runs in the one that runs this.
ENVIRONMENTS = {
    "smdebug": "smdebug",
    "tensorboard": "loggers",
    "safetensors": "loggers",
    "umap-learn": "maps",
    "pacmap": "maps",
    "cleanlab": "labels",
}
# Charity to a peer: its trial sleeps a second when a job has ended, in case remote files are late.
SETTINGS = {"smdebug": {"SMDEBUG_TRAINING_END_DELAY_REFRESH": "0", "SMDEBUG_LOG_LEVEL": "error"}}


class PeerUnavailable(Exception):
    """A peer's environment could not be made."""


def bench_folder() -> Path:
    """The folder for environments and scratch; it tells git to ignore itself."""
    BENCH.mkdir(exist_ok=True)
    ignore = BENCH / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return BENCH


def interpreter(tool: str, say: Callable[[str], None]) -> Path:
    """The Python that has `tool`, its environment made first if it is missing or its pins changed."""
    if tool not in ENVIRONMENTS:
        return Path(sys.executable)
    name = ENVIRONMENTS[tool]
    requirements = REQUIREMENTS / f"{name}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    folder = bench_folder() / "venvs" / name
    stamp, python = folder / "requirements.sha256", folder / "bin" / "python"
    if stamp.exists() and stamp.read_text() == digest and python.exists():
        return python
    say(f"making the environment of {name} (once, about a minute from cached wheels)")
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], name)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--requirement", str(requirements)], name)
    stamp.write_text(digest)
    return python


def environment(tool: str, *, threads: int) -> dict[str, str]:
    """The environment variables of a worker: this checkout importable, and no more threads than were asked for."""
    paths = [str(ROOT)] if tool in ENVIRONMENTS else [str(ROOT), str(ROOT / "src")]
    counts = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return {**os.environ, **counts, "PYTHONPATH": os.pathsep.join(paths), **SETTINGS.get(tool, {})}


def _run(command: list[str], name: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if not line.startswith("WARNING")]
        message = f"No environment for {name}: `{' '.join(command)}` failed: {' '.join(lines[-3:])}"
        raise PeerUnavailable(message)
