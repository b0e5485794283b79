"""Rules beside a training that runs: how soon a finding is there, and what the watcher costs the training."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adapters import load
from benchmarks.cases import Mode
from benchmarks.models import Trainee, batches
from benchmarks.protocol import Runner
from benchmarks.rules_training import EXPLODES, VANISHES
from cutaway.run import Run

__all__ = ["Latency", "Slowdown", "measure_latency", "measure_slowdown"]

# The watcher has found the run and seen its beginning by then.
FIRST_PLANT = 200
# A rule tells of a tensor again after a hundred quiet steps; the two kinds of plant take turns.
PLANT_EVERY = 65
LATENCY_LIMIT = 300
# Steps between a change of the watcher's state and the clock: longer than it sleeps between two looks, so that what it
# missed while it stood still is not charged to the stretch that is timed.
LEAD_STEPS = 80
TIMED_STEPS = 75
WARM_UP_STEPS = 100
END_SECONDS = 60
STOPPED, AGAIN, WATCHED = range(3)
ORDERS = tuple(itertools.permutations((STOPPED, AGAIN, WATCHED)))


@dataclass(frozen=True)
class Latency:
    """Seconds from the end of each spoiled step until its finding was printed; plants that were never found."""

    seconds: list[float]
    missed: list[str]


@dataclass(frozen=True)
class Slowdown:
    """Seconds of each timed stretch, a triple each, the watcher's share of a core, and how its rules stood at last."""

    stopped: list[float]
    again: list[float]
    watched: list[float]
    steps: int
    watcher_cores: float
    last_step: int
    rules: list[dict[str, Any]]


def measure_latency(scratch: Path, *, plants: int, seed: int = 0) -> Latency:
    """Train in one process and watch in another."""
    folder = scratch / "run"
    chance = random.Random(seed)
    steps = [FIRST_PLANT + i * PLANT_EVERY + chance.randrange(15) for i in range(plants)]
    planted = {step: (EXPLODES, VANISHES)[i % 2] for i, step in enumerate(steps)}
    training = [sys.executable, "-m", "benchmarks.rules_training", str(folder), json.dumps(planted)]
    with _watch(folder, subprocess.PIPE) as watcher:
        trainer = subprocess.Popen(training, stdout=subprocess.PIPE, text=True)
        try:
            seen = _seen(watcher)
            out, _ = trainer.communicate(timeout=LATENCY_LIMIT)
        finally:
            trainer.kill()
    ends = {(row["code"], row["step"]): row["time"] for row in map(json.loads, out.splitlines())}
    missed = [f"{code} at step {step}" for step, code in planted.items() if (code, step) not in seen]
    return Latency([seen[key] - end for key, end in ends.items() if key in seen], missed)


def measure_slowdown(scratch: Path, *, triples: int, seed: int = 0) -> Slowdown:
    """Train here; let the watcher in another process run and stand still in turn."""
    folder = scratch / "run"
    trainee = Trainee("cnn")
    tool = load("cutaway", Mode.STATISTICS)
    tool.attach(trainee, folder)
    runner = Runner(trainee, trainee.step, batches())
    runner.run(WARM_UP_STEPS)
    shuffle = random.Random(seed)
    rows: list[list[float]] = []
    cpu = 0.0
    with _watch(folder, subprocess.DEVNULL) as watcher:
        while not list(folder.glob("watch/*.json")):
            if watcher.poll() is not None:
                message = f"The watcher ended with {watcher.returncode} before it had looked."
                raise RuntimeError(message)
            runner.run(10)
        for _ in range(triples):
            seconds = [0.0, 0.0, 0.0]
            for which in shuffle.choice(ORDERS):
                os.kill(watcher.pid, signal.SIGCONT if which == WATCHED else signal.SIGSTOP)
                runner.run(LEAD_STEPS)
                before = _cpu_seconds(watcher.pid)
                seconds[which], _ = runner.timed(TIMED_STEPS)
                cpu += _cpu_seconds(watcher.pid) - before
            rows.append(seconds)
        os.kill(watcher.pid, signal.SIGCONT)
        tool.close()
        watcher.wait(END_SECONDS)
    standing = (Run.open(folder).document("watch/watcher_0.json") or {}).get("rules", [])
    stopped, again, watched = np.array(rows).T.tolist()
    return Slowdown(stopped, again, watched, TIMED_STEPS, cpu / sum(watched), runner.count - 1, standing)


@contextmanager
def _watch(folder: Path, output: Any) -> Iterator[subprocess.Popen[str]]:
    """All rules over a run until it ends; it may begin later."""
    command = [sys.executable, "-m", "cutaway", "watch", str(folder), "--follow", "--json", "--fail-on", "never"]
    watcher = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, text=True)
    try:
        yield watcher
    finally:
        watcher.kill()
        watcher.wait()


def _seen(watcher: subprocess.Popen[str]) -> dict[tuple[str, int], float]:
    """When each finding was printed, until the watcher ends."""
    seen: dict[tuple[str, int], float] = {}
    assert watcher.stdout is not None
    for line in watcher.stdout:
        now = time.time()
        row = json.loads(line) if line.startswith("{") and line.endswith("}\n") else {}
        if "code" in row:
            seen.setdefault((row["code"], row["where"].get("step", -1)), now)
    return seen


def _cpu_seconds(process: int) -> float:
    """Processor time of another process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
