"""Opens the run of a hook for writing: a new one, or the next attempt of an old one, where that left off.

Of several workers the chief opens it, and the others find the run that it has opened.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from cutaway.capture.adapter import Adapter, Worker
from cutaway.capture.budget import DiskBudget
from cutaway.capture.recorder import Recorder
from cutaway.capture.settings import HookSettings
from cutaway.capture.step_life import StepCounter
from cutaway.capture.tensorboard import EventWriter
from cutaway.errors import CutawayError, RunDamaged, RunExists, RunNotFound
from cutaway.run.catalog import list_runs, run_sizes
from cutaway.run.identity import Run
from cutaway.run.layout import LOGS
from cutaway.run.leases import Lease, RunState, read_leases
from cutaway.run.process import is_alive, is_here, this_process
from cutaway.run.schemas import SCALARS, STEPS, TENSORS, VALUES
from cutaway.run.segments import WriterId
from cutaway.tensors.collections import Collections

__all__ = ["ChiefMissing", "in_notebook", "open_recorder", "open_run"]

log = logging.getLogger("cutaway.capture")

# How long a worker waits for the chief to open the run: processes of one launch start within seconds of each other.
JOIN_SECONDS = 120.0


def open_recorder(
    settings: HookSettings,
    worker: Worker,
    adapter: Adapter,
    collections: Collections,
    *,
    stopped: Callable[[], None],
) -> tuple[Recorder, StepCounter, int | None, dict[str, Any]]:
    """Open the run that this worker writes to; `stopped` is called when a failure has ended the capture.

    Beside what writes to it, return where its earlier attempts left off: the counter, the epoch, the configuration.
    """
    run, who, lease = open_run(settings, worker, framework=adapter.framework, versions=dict(adapter.versions))
    with _given_up_on_failure(lease):
        counter, epoch = StepCounter.after(run) if settings.resume else (StepCounter(), None)
        config = run.config() if who.attempt > 0 else {}
    config.setdefault("command", sys.argv)
    events = None
    if settings.export_tensorboard:
        folder = settings.tensorboard_dir
        events = EventWriter(Path(folder) if folder is not None else run.path / LOGS)
    recorder = Recorder(run, who, lease, _share_of_budget(settings, worker, run), events, stopped=stopped)
    if settings.rules and worker.rank == 0:
        # The chief's alone: whoever evaluates a rule from outside looks at the chief's statistics too.
        recorder.observe(settings.rules, collections)  # type: ignore[arg-type]  # resolved by HookSettings
    if events is not None:
        recorder.say("tensorboard-scalars-only", "info", "TensorBoard gets scalars; histograms come later.")
    elif settings.tensorboard_dir is not None:
        recorder.say(
            "tensorboard-off",
            "info",
            f"Nothing is written to {str(settings.tensorboard_dir)!r}: `tensorboard_dir` says where to, and only "
            "`export_tensorboard=True` that event files are written.",
        )
    return recorder, counter, epoch, config


def _share_of_budget(settings: HookSettings, worker: Worker, run: Run) -> DiskBudget:
    """Return what this process may still write: its share, less what earlier attempts have taken."""
    writers = worker.workers if settings.include_workers == "all" else 1
    budget = DiskBudget(max(settings.disk_budget // writers, 1))
    if settings.resume:
        budget.spend(sum(run_sizes(run).values()) // writers)
    return budget


class ChiefMissing(CutawayError, TimeoutError):
    """The chief of a distributed training opened no run in time."""


def open_run(settings: HookSettings, worker: Worker, **identity: Any) -> tuple[Run, WriterId, Lease]:
    """Open the run that this worker writes to: a new one, the next attempt of an old one, or the chief's.

    Its lease says that it starts, and is claimed before anything that takes long.
    """
    if worker.rank != 0:
        return _join(settings, worker)
    if settings.resume:
        run = Run.open(settings.folder or "")
        lease = run.claim_attempt()
    else:
        run, lease = _start(settings, **identity)
    with _given_up_on_failure(lease):
        first = settings.from_step if settings.from_step is not None else _next_step(run)
        run.list_attempt(lease.writer.attempt, first, launch=worker.launch, process=this_process())
    return run, lease.writer, lease


@contextlib.contextmanager
def _given_up_on_failure(lease: Lease) -> Iterator[None]:
    """Keep a lease alive. Where something goes wrong nobody will ever write: the next one must not find it alive."""
    try:
        with lease.kept_alive():
            yield
    except BaseException:
        with contextlib.suppress(OSError):
            lease.release(RunState.FAILED)
        raise


def _next_step(run: Run) -> int:
    """Return the step after the last of which anything was saved.

    A scalar that was acknowledged before a crash must not be replaced by an attempt that never reached its step.
    """
    last = -1
    for table in (STEPS, SCALARS, TENSORS, VALUES):
        steps = run.table(table).read(columns=["step"])["step"]
        last = max(last, pc.max(steps).as_py() if len(steps) else -1)
    return last + 1


def _absolute(run: Run) -> Run:
    """Return the run by a path that stays right when the training changes its folder."""
    return run if run.path.is_absolute() else Run.open(run.path.absolute())


def _start(settings: HookSettings, **identity: Any) -> tuple[Run, Lease]:
    run, lease = _made(settings, **identity)
    return _absolute(run), lease


def _made(settings: HookSettings, **identity: Any) -> tuple[Run, Lease]:
    try:
        return Run.start(settings.folder, name=settings.name, **identity)
    except RunExists:
        if not (in_notebook() and settings.folder and _made_here(settings.folder)):
            raise
    folder, number = settings.folder, 2
    while (again := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    log.warning("%s already holds a run of this notebook; this one goes to %s.", folder, again)
    return Run.start(again, name=settings.name, **identity)


def in_notebook() -> bool:
    """Whether this process runs cells: what one of them raises does not end it."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def _made_here(folder: Any) -> bool:
    """Whether the run in a folder was written by this very process: a cell that is run a second time."""
    me = this_process()
    leases = read_leases(Run.open(folder).storage, "train")
    return any(all(lease.get(key) == me[key] for key in ("machine", "pid", "started")) for lease in leases)


def _join(settings: HookSettings, worker: Worker) -> tuple[Run, WriterId, Lease]:
    deadline = time.monotonic() + JOIN_SECONDS
    while time.monotonic() < deadline:
        for run in _candidates(settings):
            for attempt in reversed(run.identity.get("attempts", [])):
                if attempt.get("launch") == worker.launch and _chief_may_live(attempt.get("process", {})):
                    number = int(attempt["attempt"])
                    return run, WriterId("train", worker.name, number), run.join_attempt(worker.name, number)
        time.sleep(0.05)
    message = (
        f"{worker.name} found no run of launch {worker.launch!r} within {JOIN_SECONDS:.0f} s. Construct the hook on "
        "rank 0 too, or use `include_workers='one'`; where the ranks are on several machines, give them one `out_dir` "
        "that all of them see and set CUTAWAY_LAUNCH_ID to the same text."
    )
    raise ChiefMissing(message)


def _chief_may_live(process: dict[str, Any]) -> bool:
    """Whether the process that opened an attempt is not known to be gone: an earlier launch may have had our name."""
    return not (is_here(process) and not is_alive(process))


def _candidates(settings: HookSettings) -> list[Run]:
    if settings.folder is None:
        return [_absolute(run) for run in list_runs()[:20]]
    try:
        return [Run.open(settings.folder)]
    except (RunNotFound, RunDamaged):
        return []
