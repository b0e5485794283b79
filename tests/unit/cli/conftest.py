"""Runs under an empty current folder, and the command called in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cutaway.cli import main
from cutaway.run import Finding, Run, RunState, WriterId
from cutaway.run.findings import append_findings
from cutaway.tensors import Collections
from tests.unit.cli.run_folders import write_steps

MakeRun = Callable[..., Run]
Cutaway = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that `runs/` is this test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTAWAY_HOME", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.fixture
def make_run(home: Path) -> MakeRun:
    """Make a run under `runs/`: `steps` of it, ended in `state`."""

    def make(
        name: str = "mnist-1",
        *,
        steps: int = 20,
        state: RunState = RunState.FINISHED,
        config: dict[str, Any] | None = None,
        findings: Sequence[Finding] = (),
        running: bool = False,
        **about: Any,
    ) -> Run:
        run = Run.create(home / "runs" / name)
        _, lease = run.begin_attempt(from_step=0)
        run.write_document("trace/collections.json", {"included": [], "collections": Collections().to_dict()})
        run.write_config({"batch_size": 64, "optimizer": {"name": "SGD", "lr": 0.1}} if config is None else config)
        write_steps(run, range(steps), **about)
        append_findings(run.writer("findings", WriterId("train", "worker_0", 0)), findings)
        if not running:
            lease.release(state)
        return run

    return make


@pytest.fixture
def cutaway(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cutaway:
    """Run a command in this process; returns its exit code, stdout and stderr."""

    def call(*words: str, columns: int = 120) -> tuple[int, str, str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        code = main(list(words))
        written = capsys.readouterr()
        return code, written.out, written.err

    return call
