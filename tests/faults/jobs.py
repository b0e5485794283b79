"""What the forked processes of these tests do. Each gets a function that reports a number to the test."""

from __future__ import annotations

import itertools
import os
import resource
import tempfile
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from cutaway.capture.coarse_writer import CoarseWriter
from cutaway.capture.statistics_batch import Part, side_by_side, statistics_batch
from cutaway.dataset import Dataset
from cutaway.errors import RunExists, RunLocked, StorageError
from cutaway.evaluation import Progress
from cutaway.evaluation import evaluate as evaluate_all
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.rules.watcher import Watcher
from cutaway.run import Run, RunState, WriterId, sample_writer, segments
from cutaway.run.schemas import OVERVIEW, STATISTICS, STEPS, TENSORS
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.trial import Trial
from tests.unit.evaluation.linear_model import linear_model, samples

Report = Callable[[int], None]

WON, LOST = 1, 0


def tensor_of(attempt: int, step: int) -> np.ndarray:
    """The tensor that an attempt saves at a step: any byte of it tells where it belongs."""
    return np.random.default_rng([attempt, step]).integers(0, 256, 200 + 37 * (step % 5)).astype(np.uint8)


def warm_up() -> None:
    """Do once what is slow the first time, so that no child pays for it: pyarrow looks for pandas, for one."""
    with tempfile.TemporaryDirectory() as folder:
        Run.create(f"{folder}/run").write_document("trace/collections.json", {})
        write(lambda number: None, f"{folder}/run", steps=2)
        Run.open(f"{folder}/run").verify()


def write(report: Report, path: str, steps: int = 1 << 30) -> None:
    """Open the next attempt, and write steps, statistics, tensors and a document until somebody makes an end of it.

    Reports the attempt, then each step as soon as everything of it is written.
    """
    # Small segments, so that kills meet the change from one to the next.
    segments.SEGMENT_BYTES, segments.BLOB_BYTES = 6000, 2000
    run = Run.open(path)
    number, lease = run.begin_attempt()
    report(number)
    who = WriterId("train", "worker_0", number)
    tables = {table: run.writer(table, who) for table in (STEPS, STATISTICS, TENSORS)}
    first = run.next_step()
    for step in range(first, first + steps):
        tables[STATISTICS].append_rows({"step": [step] * 3, "tensor": ["a", "b", "c"], "min": [0.5, 1.5, step]}, step)
        row = {"step": [step], "tensor": ["a"], "dtype": ["uint8"]}
        tables[TENSORS].append_tensors(row, step, [tensor_of(number, step)])
        tables[STEPS].append_rows({"step": [step], "mode": ["TRAIN"], "samples": [[f"training/{step}", None]]}, step)
        if step % 8 == 0:
            run.storage.replace("trace/collections.json", run.storage.read("trace/collections.json"), durable=False)
            lease.beat()
        report(step)
    for table in tables.values():
        table.close()
    lease.release(RunState.FINISHED)


def write_coarsely(report: Report, path: str) -> None:
    """Write statistics and their coarse copy without an end, as the writer thread does: groups of three steps.

    Every statistic is the step's number. Reports the last step of each group.
    """
    run = Run.open(path)
    number, _ = run.begin_attempt()
    who = WriterId("train", "worker_0", number)
    tables = {table: run.writer(table, who) for table in (STEPS, STATISTICS, OVERVIEW)}
    coarse = CoarseWriter(tables.__getitem__)
    names = pa.array(["a", "b"])
    for first in itertools.count(0, 3):
        parts = [
            Part(step, names, dict.fromkeys(STATISTIC_COLUMNS, np.full(2, step))) for step in range(first, first + 3)
        ]
        matrices = side_by_side(parts)
        tables[STATISTICS].append(statistics_batch(parts, matrices), first)
        tables[STEPS].append_rows({"step": [part.step for part in parts], "mode": ["TRAIN"] * 3}, first)
        coarse.add(parts, matrices)
        report(first + 2)


def hold(report: Report, path: str, end: str = "", role: str = "train", worker: str = "worker_0") -> None:
    """Claim the next attempt, end in the given state, or wait for the end that somebody makes."""
    run = Run.open(path)
    if role == "train" and worker == "worker_0":
        number, lease = run.begin_attempt()
    else:
        number, lease = 0, run.join_attempt(worker, 0)
    report(number)
    if not end:
        time.sleep(60)
    elif end != "vanish":
        lease.release(RunState(end))


def start(report: Report, path: str) -> None:
    """Make a run that starts, and never be ready."""
    _, lease = Run.start(path)
    report(lease.writer.attempt)
    time.sleep(60)


def claim(report: Report, path: str, at: float) -> None:
    """Try to open the next attempt at a given moment, and stay alive if that succeeded."""
    run = Run.open(path)
    _spin_until(at)
    try:
        run.begin_attempt()
    except RunLocked:
        report(LOST)
        return
    report(WON)
    time.sleep(60)


def create(report: Report, path: str, at: float) -> None:
    """Try to create a run at a given moment."""
    _spin_until(at)
    try:
        Run.create(path)
    except RunExists:
        report(LOST)
    else:
        report(WON)


def fork_while_writing(report: Report, path: str) -> None:
    """Write, and fork a child that inherits the open writer and tries to use it."""
    run = Run.open(path)
    number, lease = run.begin_attempt()
    writer = run.writer(STEPS, WriterId("train", "worker_0", number))
    writer.append_rows({"step": [0]}, 0)
    child = os.fork()
    if not child:
        try:
            writer.append_rows({"step": [999]}, 999)
        except StorageError:
            report(LOST)
        writer.close()
        lease.release(RunState.FAILED)
        os._exit(0)
    os.waitpid(child, 0)
    writer.append_rows({"step": [1]}, 1)
    writer.close()
    lease.release(RunState.FINISHED)
    report(WON)


def write_until_full(report: Report, path: str, limit: int) -> None:
    """Write under a limit on the size of a file: a real short write, then a real error, then a new segment."""
    segments.SEGMENT_BYTES = 10 * limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    run = Run.open(path)
    number, _ = run.begin_attempt()
    writer = run.writer(STEPS, WriterId("train", "worker_0", number))
    for step in range(60):
        try:
            writer.append_rows({"step": [step], "mode": ["x" * 100]}, step)
        except StorageError:
            report(-1)
        else:
            report(step)


def _spin_until(moment: float) -> None:
    while time.monotonic() < moment:
        pass


def watch(report: Report, path: str) -> None:
    """Watch a run until its training ends, asking for a checkpoint at every finding; report the newest step seen."""
    trial = Trial(Run.open(path))
    with Watcher(trial, [VanishingGradient(trial, "checkpoint")], sleep=lambda _: time.sleep(0.01)) as watcher:
        report(-1)
        for one in watcher.looks(follow=True):
            report(one.newest)


EVALUATED = {"training": 700, "validation": 90}


def evaluate(report: Report, path: str, pace: float = 0.002) -> None:
    """Evaluate into a run, in small parts, and report how many samples are done; go on where another was killed."""
    sample_writer.PART_ROWS = 48
    parts = []
    for seed, (name, count) in enumerate(EVALUATED.items()):
        x, y = samples(count, seed)
        parts.append(Dataset.from_arrays({"x": x}, {"y": y}, metadata={"n": np.arange(count)}, subset=name))

    def tell(progress: Progress) -> None:
        report(progress.done)

    evaluate_all(
        Dataset.join(*parts), linear_model(lambda _: time.sleep(pace)), Run.open(path), batch_size=16, progress=tell
    )
