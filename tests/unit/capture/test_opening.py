"""How a run is opened for writing, and how workers find that of their chief."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cutaway.capture import opening
from cutaway.capture.adapter import Worker
from cutaway.capture.opening import ChiefMissing, open_run
from cutaway.capture.settings import HookSettings
from cutaway.errors import RunExists, RunLocked
from cutaway.run import Run
from cutaway.run.leases import RunState


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
