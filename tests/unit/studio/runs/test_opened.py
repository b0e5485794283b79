"""Trials are lent to one thread at a time, few are kept, and a folder that was replaced is noticed."""

import shutil
import threading
from pathlib import Path

import pytest

from cutaway.errors import RunNotFound
from cutaway.run.identity import Run
from cutaway.studio.runs.opened import OpenedRuns
from cutaway.testing.rules import ScriptedRun


def write(path: Path, steps: int = 3) -> None:
    run = ScriptedRun()
    for step in range(steps):
        run.step(scalars={"loss": float(step)})
    run.write(path)


@pytest.fixture
def opened(tmp_path: Path) -> OpenedRuns:
    for name in "abc":
        write(tmp_path / name)
    return OpenedRuns(lambda name: Run.open(tmp_path / name), most=2)


def test_a_run_is_opened_once_and_speaks_of_one_moment(opened: OpenedRuns) -> None:
    with opened.trial("a") as first:
        assert first.recorded_steps() == [0, 1, 2]
        assert not first.dynamic_refresh
    with opened.trial("a") as again:
        assert again is first


def test_few_are_kept_and_the_one_that_was_used_last_stays(opened: OpenedRuns) -> None:
    with opened.trial("a") as first:
        pass
    for name in ("b", "a", "c", "a"):
        with opened.trial(name) as trial:
            assert trial.name == name
    assert len(opened._opened) == 2
    with opened.trial("a") as again:
        assert again is first
    opened.close()
    assert len(opened._opened) == 0


def test_who_is_in_its_block_keeps_a_trial_that_is_given_up(opened: OpenedRuns) -> None:
    with opened.trial("a") as trial:
        for name in "bcb":
            with opened.trial(name):
                pass
        assert trial.recorded_steps() == [0, 1, 2]


def test_two_threads_never_hold_the_same_trial(opened: OpenedRuns) -> None:
    inside, most = 0, 0
    guard = threading.Lock()

    def look() -> None:
        nonlocal inside, most
        for _ in range(20):
            with opened.trial("a") as trial:
                with guard:
                    inside += 1
                    most = max(most, inside)
                assert trial.recorded_steps() == [0, 1, 2]
                with guard:
                    inside -= 1

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_what_is_new_is_seen(tmp_path: Path, opened: OpenedRuns) -> None:
    run = ScriptedRun()
    run.step(scalars={"loss": 1.0})
    run.begin(tmp_path / "live")
    with opened.trial("live") as trial:
        assert trial.recorded_steps() == [0]
    run.step(scalars={"loss": 0.5})
    with opened.trial("live") as trial:
        assert trial.recorded_steps() == [0, 1]
    run.end()


def test_a_folder_that_was_replaced_is_opened_anew(tmp_path: Path, opened: OpenedRuns) -> None:
    with opened.trial("a"):
        pass
    shutil.rmtree(tmp_path / "a")
    write(tmp_path / "a", steps=7)
    with opened.trial("a") as trial:
        assert len(trial.recorded_steps()) == 7


def test_a_folder_that_is_gone_is_said_so_without_its_place(tmp_path: Path, opened: OpenedRuns) -> None:
    with opened.trial("a"):
        pass
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(RunNotFound), opened.trial("a"):
        pass
    assert len(opened._opened) == 0
    write(tmp_path / "a")
    with opened.trial("a") as trial:
        shutil.rmtree(tmp_path / "a")
        assert trial.recorded_steps() == [0, 1, 2]
