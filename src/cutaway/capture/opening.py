"""Opens the run of a hook for writing: a new one, or the next attempt of an old one, where that left off."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cutaway.capture.adapter import Adapter
from cutaway.capture.budget import DiskBudget
from cutaway.capture.recorder import Recorder
from cutaway.capture.settings import HookSettings
from cutaway.capture.steps import StepCounter
from cutaway.capture.tensorboard import EventWriter
from cutaway.capture.workers import Worker, open_run
from cutaway.errors import RunError
from cutaway.run.catalog import run_sizes
from cutaway.run.identity import Run
from cutaway.run.layout import LOGS
from cutaway.run.leases import RunState
from cutaway.tensors.collections import Collections

__all__ = ["OpenedRun", "open_recorder"]


class OpenedRun(NamedTuple):
    """What writes to a run, and where its earlier attempts left off."""

    recorder: Recorder
    counter: StepCounter
    epoch: int | None
    config: dict[str, Any]


def open_recorder(
    settings: HookSettings,
    worker: Worker,
    adapter: Adapter,
    collections: Collections,
    *,
    stopped: Callable[[], None],
) -> OpenedRun:
    """Open the run that this worker writes to; `stopped` is called when a failure has ended the capture."""
    run, who, lease = open_run(settings, worker, framework=adapter.framework, versions=dict(adapter.versions))
    try:
        counter, epoch = StepCounter.after(run) if settings.resume else (StepCounter(), None)
        config = run.config() if who.attempt > 0 else {}
    except RunError:
        # Nobody will ever write to this attempt; the next one must not find it alive.
        lease.release(RunState.FAILED)
        raise
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
    return OpenedRun(recorder, counter, epoch, config)


def _share_of_budget(settings: HookSettings, worker: Worker, run: Run) -> DiskBudget:
    """Return what this process may still write: its share, less what earlier attempts have taken."""
    writers = worker.workers if settings.include_workers == "all" else 1
    budget = DiskBudget(max(settings.disk_budget // writers, 1))
    if settings.resume:
        budget.spend(sum(run_sizes(run).values()) // writers)
    return budget
