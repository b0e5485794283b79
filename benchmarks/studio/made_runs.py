"""Makes what the pages show: runs by the hook's own writers, a folder of thousands, the same scalars for two tools."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.rules_run import write_long_run
from benchmarks.studio.made_population import made_population
from cutaway.run import Run
from cutaway.run.schemas import SCALARS
from cutaway.run.segments import WriterId

__all__ = ["SERIES", "copy_runs", "demo_like_run", "large_run", "made_population", "scalars_for_both", "training"]

SERIES = 10
LARGE_LAYERS = 490  # four tensors each, and forty of activations and losses: 2,000
COPIED_AS_IT_IS = {"run.json", "config.yaml"}


def demo_like_run(folder: Path) -> None:
    """A training of a few hundred steps and 200 tensors."""
    write_long_run(folder, 700)


def large_run(folder: Path, steps: int, layers: int = LARGE_LAYERS) -> int:
    """A training of so many steps and 2,000 tensors; returns how many."""
    return write_long_run(folder, steps, layers=layers, width=8).tensors


def copy_runs(folder: Path, count: int) -> None:
    """Thousands of runs that differ in name, time and configuration; their tables are one run's, by links."""
    original = folder / "original"
    write_long_run(original, 120)
    about = json.loads((original / "run.json").read_text())
    made = [path for path in original.rglob("*") if path.is_file() and path.name not in COPIED_AS_IT_IS]
    random = np.random.default_rng(0)
    for number in range(count - 1):
        run = folder / f"run-{number:05d}"
        for path in made:
            there = run / path.relative_to(original)
            there.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, there)
        created = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1.7e9 + 600 * number))
        same = {**about, "id": f"{number:032x}", "name": run.name, "created": created}
        (run / "run.json").write_text(json.dumps(same))
        rate, width = 10 ** random.uniform(-4, -1), int(random.choice([32, 64, 128]))
        (run / "config.yaml").write_text(f"lr: {rate:.3g}\nwidth: {width}\nseed: {number % 7}\n")


def scalars_for_both(ours: Path, theirs: Path, steps: int) -> None:
    """Ten series of so many steps, once as a run and once as TensorBoard's event files."""
    from torch.utils.tensorboard import SummaryWriter

    random = np.random.default_rng(0)
    values = {
        f"{'loss' if i == 0 else f'metric_{i}'}": [
            2.3 * math.exp(-3 * step / steps) + 0.05 * float(noise)
            for step, noise in enumerate(random.standard_normal(steps))
        ]
        for i in range(SERIES)
    }
    run = Run.create(ours)
    attempt, lease = run.begin_attempt()
    writer, began = run.writer(SCALARS, WriterId("train", "worker_0", attempt)), time.time()
    events = SummaryWriter(str(theirs))
    for step in range(steps):
        rows = [(name, step, "TRAIN", series[step], began + step) for name, series in values.items()]
        writer.append_records(rows, step)
        for name, series in values.items():
            events.add_scalar(name, series[step], step)
    writer.close()
    events.close()
    from cutaway.run import RunState

    lease.release(RunState.FINISHED)


def training(folder: Path, steps_a_second: float, seconds: float) -> None:
    """A live training of so many steps a second. Prints each step and when it was written, to be compared with."""
    import torch

    from cutaway.torch import Hook

    model, criterion = torch.nn.Linear(4, 1), torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Hook(out_dir=folder) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for step in range(int(steps_a_second * seconds)):
            optimizer.zero_grad()
            loss = criterion(model(torch.randn(8, 4)), torch.ones(8, 1))
            loss.backward()
            optimizer.step()
            hook.save_scalar("loss", float(loss))
            hook.flush()
            print(json.dumps({"step": step, "time": time.time()}), flush=True)
            time.sleep(1 / steps_a_second)
