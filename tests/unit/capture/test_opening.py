"""How a run is opened for writing, and how workers find that of their chief."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cutaway.capture import opening
from cutaway.capture.adapter import Worker
from cutaway.capture.opening import ChiefMissing, open_run
from cutaway.capture.settings import HookSettings
from cutaway.errors import NoMoreData, RunExists, RunLocked
from cutaway.run import Run
from cutaway.run.leases import RunState
from cutaway.trial import Trial, create_trial
from tests.unit.capture.conftest import ArrayAdapter


def settings(path: Path | None, **others: Any) -> HookSettings:
    return HookSettings(out_dir=path, include_workers="all", **others)


def test_a_worker_is_named_after_its_rank() -> None:
    assert Worker().name == "worker_0"
    assert Worker(3).name == "worker_3"


def test_the_chief_opens_a_new_run_and_the_others_join_its_attempt(tmp_path: Path) -> None:
    run, chief, _ = open_run(settings(tmp_path / "run"), Worker(0, "launch"))
    joined, second, _ = open_run(settings(tmp_path / "run"), Worker(1, "launch"))
    assert (chief.worker, chief.attempt) == ("worker_0", 0)
    assert (second.worker, second.attempt) == ("worker_1", 0)
    assert joined.id == run.id


def test_a_worker_that_comes_first_waits_for_its_chief(tmp_path: Path) -> None:
    found: list[Any] = []
    waiting = threading.Thread(
        target=lambda: found.append(open_run(settings(tmp_path / "run"), Worker(1, "launch"))), daemon=True
    )
    waiting.start()
    run, _, _ = open_run(settings(tmp_path / "run"), Worker(0, "launch"))
    waiting.join(60)
    assert found[0][0].id == run.id


def test_a_worker_does_not_join_another_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "JOIN_SECONDS", 0.2)
    open_run(settings(tmp_path / "run"), Worker(0, "another"))
    with pytest.raises(ChiefMissing, match=r"worker_1.*'launch'.*rank 0"):
        open_run(settings(tmp_path / "run"), Worker(1, "launch"))


def test_a_worker_does_not_join_a_chief_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "JOIN_SECONDS", 0.2)
    script = (
        "import sys\nfrom cutaway.capture.adapter import Worker\n"
        "from cutaway.capture.settings import HookSettings\nfrom cutaway.capture.opening import *\n"
        "open_run(HookSettings(out_dir=sys.argv[1]), Worker(0, 'launch'))"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], check=True, timeout=60)
    with pytest.raises(ChiefMissing):
        open_run(settings(tmp_path / "run"), Worker(1, "launch"))


def test_a_worker_without_a_folder_finds_its_launch_among_the_runs(tmp_path: Path) -> None:
    open_run(settings(None, name="another"), Worker(0, "another"))
    run, _, _ = open_run(settings(None, name="ours"), Worker(0, "launch"))
    joined, _, _ = open_run(settings(None, name="ours"), Worker(1, "launch"))
    assert joined.path == run.path
    assert joined.path.is_absolute()


def test_a_resumed_run_has_a_next_attempt_that_workers_join(tmp_path: Path) -> None:
    _, _, lease = open_run(settings(tmp_path / "run"), Worker(0, "first"))
    lease.release(RunState.FINISHED)
    _, chief, _ = open_run(settings(tmp_path / "run", resume=True), Worker(0, "second"))
    _, second, _ = open_run(settings(tmp_path / "run", resume=True), Worker(1, "second"))
    assert (chief.attempt, second.attempt) == (1, 1)


def test_a_second_live_chief_is_refused(tmp_path: Path) -> None:
    open_run(settings(tmp_path / "run"), Worker(0, "launch"))
    with pytest.raises(RunExists):
        open_run(settings(tmp_path / "run"), Worker(0, "launch"))
    with pytest.raises(RunLocked):
        open_run(settings(tmp_path / "run", resume=True), Worker(0, "launch"))


# -- starting ------------------------------------------------------------------------------------------


@pytest.fixture
def slow_start(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowStart]:
    """Opening takes long where it looks for the first step: that is where pandas may be imported."""
    slow = SlowStart(opening._next_step)
    monkeypatch.setattr(opening, "_next_step", slow)
    yield slow
    slow.go_on.set()


class SlowStart:
    def __init__(self, look: Callable[[Run], int]) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self._look = look

    def __call__(self, run: Run) -> int:
        self.reached.set()
        assert self.go_on.wait(60)
        return self._look(run)


def _in_background(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    return thread, done


def test_a_run_that_is_being_opened_starts_and_has_not_ended(tmp_path: Path, slow_start: SlowStart) -> None:
    opened, _ = _in_background(lambda: open_run(settings(tmp_path / "run"), Worker()))
    assert slow_start.reached.wait(60)
    run = Run.open(tmp_path / "run")
    trial = Trial(run)
    assert run.state() is trial.state() is RunState.STARTING
    assert not trial.job_finished()
    waiting, trials = _in_background(lambda: create_trial(run.path))
    opened.join(0.2)
    assert waiting.is_alive()
    slow_start.go_on.set()
    opened.join(60)
    run.write_document("trace/collections.json", {"collections": {}})
    waiting.join(60)
    assert not trials[0].job_finished()


def test_whoever_waits_for_a_step_waits_for_a_training_that_starts(
    tmp_path: Path, slow_start: SlowStart, array_hook: type
) -> None:
    opened, hooks = _in_background(lambda: array_hook(tmp_path / "run"))
    assert slow_start.reached.wait(60)
    trial = Trial(Run.open(tmp_path / "run"))
    waiting, done = _in_background(lambda: trial.wait_for_steps([0]))
    opened.join(0.2)
    assert waiting.is_alive()
    slow_start.go_on.set()
    opened.join(60)
    with hooks[0] as hook:
        hook.save_tensor("x", np.ones(3))
        hook.take(x=[1.0])
    waiting.join(60)
    assert done == [None]


def test_whoever_waits_for_a_step_does_not_wait_for_a_training_that_died_as_it_started(tmp_path: Path) -> None:
    run, lease = Run.start(tmp_path / "run")
    trial = Trial(run)
    assert not trial.job_finished()
    lease.release(RunState.FAILED)
    with pytest.raises(NoMoreData):
        trial.wait_for_steps([0])
    assert trial.job_finished()


def test_a_run_that_is_resumed_starts_before_anything_of_it_is_read(tmp_path: Path, slow_start: SlowStart) -> None:
    slow_start.go_on.set()
    open_run(settings(tmp_path / "run"), Worker())[2].release(RunState.FINISHED)
    assert Run.open(tmp_path / "run").state() is RunState.FINISHED
    slow_start.go_on.clear()
    slow_start.reached.clear()
    opened, _ = _in_background(lambda: open_run(settings(tmp_path / "run", resume=True), Worker()))
    assert slow_start.reached.wait(60)
    assert Run.open(tmp_path / "run").state() is RunState.STARTING
    assert not Trial(Run.open(tmp_path / "run")).job_finished()
    slow_start.go_on.set()
    opened.join(60)


def test_one_that_was_interrupted_while_it_started_does_not_start_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(run: Run) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(opening, "_next_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_run(settings(tmp_path / "run"), Worker())
    assert Run.open(tmp_path / "run").state() is RunState.FAILED


def test_a_hook_that_is_ready_no_longer_starts(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        assert hook.run.state() is RunState.RUNNING
    assert hook.run.state() is RunState.FINISHED


def test_a_hook_whose_adapter_refuses_leaves_a_run_that_failed(
    tmp_path: Path, array_hook: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(adapter: ArrayAdapter, hook: Any) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr(ArrayAdapter, "attach", refuses)
    with pytest.raises(ValueError, match="no such thing"):
        array_hook(tmp_path / "run")
    assert Run.open(tmp_path / "run").state() is RunState.FAILED


# -- notebooks -------------------------------------------------------------------------------------


@pytest.fixture
def _notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))


@pytest.mark.usefixtures("_notebook")
def test_a_cell_that_is_run_again_gets_a_new_run(tmp_path: Path) -> None:
    paths = [open_run(settings(tmp_path / "run"), Worker())[0].path for _ in range(3)]
    assert [path.name for path in paths] == ["run", "run-2", "run-3"]


@pytest.mark.usefixtures("_notebook")
def test_a_run_of_another_process_is_not_passed_over_in_a_notebook(tmp_path: Path) -> None:
    Run.create(tmp_path / "run")
    with pytest.raises(RunExists):
        open_run(settings(tmp_path / "run"), Worker())


def test_outside_a_notebook_a_second_run_of_one_process_is_refused(tmp_path: Path) -> None:
    open_run(settings(tmp_path / "run"), Worker())
    with pytest.raises(RunExists):
        open_run(settings(tmp_path / "run"), Worker())
