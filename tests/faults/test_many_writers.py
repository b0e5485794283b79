"""Real processes that want to write one run: who may, and what their ends are called."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cutaway.errors import RunExists, RunLocked
from cutaway.run import Run, RunState
from tests.faults.jobs import LOST, WON
from tests.nursery import Child, Nursery

pytestmark = pytest.mark.faults


def _kill(child: Child) -> None:
    child.kill()


def _stop(child: Child) -> None:
    os.kill(child.pid, signal.SIGSTOP)


def _wait(child: Child) -> None:
    child.reports()
    child.wait()


@pytest.mark.parametrize(
    ("end", "then", "state"),
    [
        ("", lambda child: None, RunState.RUNNING),
        ("", _stop, RunState.RUNNING),
        ("", _kill, RunState.CRASHED),
        ("vanish", _wait, RunState.CRASHED),
        ("finished", _wait, RunState.FINISHED),
        ("failed", _wait, RunState.FAILED),
        ("ended", _wait, RunState.ENDED),
    ],
    ids=["alive", "stopped", "killed", "exited without a word", "closed", "failed", "exited"],
)
def test_the_state_tells_what_became_of_a_process(
    nursery: Nursery, run: Run, end: str, then: Callable[[Child], object], state: RunState
) -> None:
    child = nursery.start("hold", path=str(run.path), end=end)
    child.report()
    then(child)
    assert run.state() is state
    assert Run.open(run.path).state() is state
    if state is RunState.RUNNING:
        child.kill()
        assert run.state() is RunState.CRASHED


def test_a_second_process_is_refused_until_the_first_is_killed(nursery: Nursery, run: Run) -> None:
    child = nursery.start("hold", path=str(run.path))
    assert child.report() == 0
    with pytest.raises(RunLocked, match=f"process {child.pid} on"):
        run.begin_attempt()
    worker = nursery.start("hold", path=str(run.path), worker="worker_1")
    worker.report()
    with pytest.raises(RunLocked):
        run.join_attempt("worker_1", 1)
    child.kill()
    assert run.state() is RunState.RUNNING, "the other worker lives"
    number, _ = run.begin_attempt()
    assert number == 1
    worker.kill()
    run.join_attempt("worker_1", 1)


def test_a_training_killed_while_it_started_does_not_start_for_ever(nursery: Nursery, tmp_path: Path) -> None:
    child = nursery.start("start", path=str(tmp_path / "young"))
    assert child.report() == 0
    run = Run.open(tmp_path / "young")
    assert run.state() is RunState.STARTING
    with pytest.raises(RunExists):
        Run.start(tmp_path / "young")
    child.kill()
    assert run.state() is RunState.CRASHED
    assert run.claim_attempt().writer.attempt == 1
    assert run.state() is RunState.STARTING


def test_a_process_killed_while_it_started_does_not_lock_the_run(nursery: Nursery, run: Run, kills: int) -> None:
    for i in range(max(kills, 20)):
        child = nursery.start("hold", path=str(run.path))
        time.sleep(i % 20 / 4000)
        child.kill()
    child = nursery.start("hold", path=str(run.path), end="finished")
    child.report()
    _wait(child)
    assert run.state() is RunState.FINISHED


@pytest.mark.parametrize("rivals", [2, 4])
def test_of_processes_that_start_an_attempt_at_the_same_moment_one_wins(
    nursery: Nursery, run: Run, rivals: int
) -> None:
    for attempt in range(6):
        moment = time.monotonic() + 0.02 * rivals
        children = [nursery.start("claim", path=str(run.path), at=moment) for _ in range(rivals)]
        assert sorted(child.report() for child in children) == [LOST] * (rivals - 1) + [WON]
        assert [one.number for one in run.attempts()] == list(range(attempt + 1))
        for child in children:
            try:
                child.kill()
            except ProcessLookupError:
                child.wait()  # a loser has gone home


def test_of_processes_that_create_a_run_at_the_same_moment_one_does(nursery: Nursery, tmp_path: Path) -> None:
    for i in range(6):
        moment = time.monotonic() + 0.04
        children = [nursery.start("create", path=str(tmp_path / f"run{i}"), at=moment) for _ in range(3)]
        assert sorted(report for child in children for report in child.reports()) == [LOST, LOST, WON]
        assert Run.open(tmp_path / f"run{i}").damage == []
        for child in children:
            child.wait()
