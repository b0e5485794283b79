"""Small runs, written whole by the real writers, for an index to find."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cutaway.run import Finding, Run, RunState, WriterId
from cutaway.run.findings import append_findings
from cutaway.studio.index import IndexedRun, RunIndex
from cutaway.studio.index.places import Place, Places

SECONDS = 60.0


def make_run(
    path: Path,
    *,
    steps: int = 4,
    state: RunState | None = RunState.FINISHED,
    config: dict[str, Any] | None = None,
    losses: Sequence[float] | None = None,
    findings: Sequence[Finding] = (),
    **identity: Any,
) -> Run:
    """Make a run of a few steps; without a state its writer, this process, still holds its lease."""
    run = Run.create(path, framework="torch", **identity)
    number, lease = run.begin_attempt(from_step=0)
    run.write_config({"lr": 0.1, "optimizer": {"class": "SGD"}} if config is None else config)
    add_steps(run, range(steps), number, losses)
    if findings:
        writer = run.writer("findings", WriterId("train", "worker_0", number))
        append_findings(writer, findings)
        writer.close()
    if state is not None:
        lease.release(state)
    return run


def add_steps(run: Run, steps: range, attempt: int = 0, losses: Sequence[float] | None = None) -> None:
    who = WriterId("train", "worker_0", attempt)
    tables = {name: run.writer(name, who) for name in ("trace/steps", "scalars")}
    for step in steps:
        row = {"step": [step], "mode": ["TRAIN"], "mode_step": [step], "epoch": [step // 2], "time": [1.7e9 + step]}
        tables["trace/steps"].append_rows({**row, "statistics": [True], "thinned": [0]}, step)
        values = [1.0 / (1 + step) if losses is None else losses[step % len(losses)], 0.1]
        rows = {"name": ["loss", "lr"], "step": [step] * 2, "mode": ["TRAIN"] * 2, "value": values}
        tables["scalars"].append_rows({**rows, "time": [1.7e9 + step] * 2}, step)
    for table in tables.values():
        table.close()


def place_of(path: Path) -> Place:
    """The place of a run as an index of its parent folder has it."""
    return next(place for place in Places(path.parent).look().values() if Path(place.path) == path)


def rows_of(index: RunIndex) -> dict[str, IndexedRun]:
    return {row.folder: row for row in index.table().rows}


def until(holds: Callable[[], object]) -> None:
    """Wait for what a background thread does; fails where it never does."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def lease_elsewhere(run: Run, beat: int) -> None:
    """Make a run look as if a process on another machine held its lease."""
    lease = run.document("leases/train-worker_0-0.json")
    assert lease is not None
    changed = {"machine": "another machine", "host": "elsewhere", "state": "running", "beat": beat}
    run.write_document("leases/train-worker_0-0.json", {**lease, **changed})


def spoil(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def unsealed(document: dict[str, Any]) -> str:
    """A document as somebody without our writer would write it."""
    return json.dumps(document)
