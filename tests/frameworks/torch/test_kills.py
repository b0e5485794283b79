"""A trainer that is killed at any instant loses nothing that it was told is safe, and can be resumed."""

from __future__ import annotations

import itertools
import os
import random
import signal
import time
from pathlib import Path

import pytest
import torch

import cutaway.torch as smd
from cutaway.errors import RunNotFound
from cutaway.run import Run
from tests.frameworks.torch.zygote import Zygote
from tests.recording import Recorded

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]

KILLS = int(os.environ.get("CUTAWAY_KILLS", "5"))
# How often a run is killed and resumed before a new one begins.
ATTEMPTS = 4

# Writes down each promise after the call that made it has returned.
TRAINER = """
import os, sys
import torch
import cutaway.torch as smd
run, promises, resume = sys.argv[1:]
handle = os.open(promises, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def promise(*words):
    os.write(handle, (" ".join(map(str, words)) + "\\n").encode())

promise("start")
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
hook = smd.Hook(run, resume=resume == "True", include_collections=["weights"], save_config={"save_interval": 3})
hook.register_module(model)
hook.register_optimizer(optimizer)
while True:
    optimizer.zero_grad()
    model(torch.ones(2, 4)).square().sum().backward()
    optimizer.step()
    step = hook.step
    hook.save_scalar("progress", step)
    promise("scalar", step)
    if step % 5 == 0:
        hook.save_tensor("mine", torch.full((50,), float(step)))
        promise("tensor", step)
    if step % 7 == 0 and hook.flush():
        promise("flush", step)
"""


def promised(path: Path) -> dict[str, list[int]]:
    """What the trainer was told is safe, by kind. The last line may be cut."""
    found: dict[str, list[int]] = {"scalar": [], "tensor": [], "flush": []}
    for line in path.read_text().splitlines(keepends=True):
        words = line.split()
        if line.endswith("\n") and words[0] in found:
            found[words[0]].append(int(words[1]))
    return found


def kill_at_random(zygote: Zygote, chance: random.Random, run: Path, promises: Path) -> None:
    promises.unlink(missing_ok=True)
    child = zygote.start(TRAINER, run, promises, (run / "run.json").exists())
    while not promises.exists():
        time.sleep(0.001)
    time.sleep(chance.uniform(0.0, 0.35))
    child.signal(signal.SIGKILL)
    ended = child.wait()
    assert ended.code == -signal.SIGKILL, ended.output


def assert_nothing_lost(run: Path, kept: dict[str, list[int]], where: str) -> None:
    recorded = Recorded(run)
    steps = recorded.numbers()
    # Each attempt goes on after the last step of which anything was saved: what was in the queue leaves a gap.
    starts = {attempt.from_step for attempt in recorded.run.attempts()}
    assert all(later == earlier + 1 or later in starts for earlier, later in itertools.pairwise(steps)), where
    assert set(kept["scalar"]) <= recorded.scalars("progress").keys(), where
    saved = recorded.tensors()
    for step in kept["tensor"]:
        array = saved[step, "mine"].array
        assert array is not None
        assert (array == step).all(), where
    assert set(kept["flush"]) <= set(steps), where
    statistics = recorded.statistics()
    for step in steps:
        assert (step, "Linear_weight") in statistics, where
        assert (step, "gradient/Linear_weight") in statistics, where
        if step % 3 == 0:
            assert (step, "Linear_weight") in saved, where


def test_kills_at_random_instants_lose_nothing_that_was_promised(tmp_path: Path, zygote: Zygote) -> None:
    chance = random.Random(int(os.environ.get("CUTAWAY_SEED", time.time_ns() % 100_000)))
    promises = tmp_path / "promises"
    kept: dict[str, list[int]] = {"scalar": [], "tensor": [], "flush": []}
    for number in range(KILLS):
        run = tmp_path / f"run-{number // ATTEMPTS}"
        if number % ATTEMPTS == 0:
            kept = {kind: [] for kind in kept}
        kill_at_random(zygote, chance, run, promises)
        try:
            state, attempts = Run.open(run).state(), Run.open(run).attempts()
        except RunNotFound:
            continue
        # A resumed training does again what was not listed yet, and replaces what was saved of it.
        for kind, steps in promised(promises).items():
            kept[kind] = [step for step in kept[kind] if not attempts or step < attempts[-1].from_step] + steps
        where = f"kill {number} of {run.name}"
        assert state == "crashed" if attempts else state in ("crashed", "ended"), where
        if attempts:
            assert_nothing_lost(run, kept, where)
    finish(tmp_path / "run-0")


def finish(run: Path) -> None:
    """Resume once more, in this process, to the end."""
    model = torch.nn.Linear(4, 3)
    with smd.Hook(run, resume=True) as hook:
        hook.register_module(model)
        first = hook.adapted.steps.counter.step
        for _ in range(3):
            model(torch.ones(1, 4)).sum().backward()
    recorded = Recorded(run)
    assert recorded.numbers()[-3:] == [first, first + 1, first + 2]
    assert recorded.run.state() == "finished"
