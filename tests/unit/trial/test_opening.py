"""Opening a run: by path, name or prefix, while it starts, and where there is nothing to open."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, MissingCollectionFiles, RunNotFound
from cutaway.run import Run, RunState
from cutaway.trial import Trial, create_trial
from tests.unit.trial.conftest import Write

WEIGHT = {"Net_fc.weight": np.ones((2, 3), np.float32)}


def test_a_run_opens_by_path_by_name_and_by_prefix(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").mkdir()
    writing = write("runs/mnist-7")
    writing.step(0, WEIGHT)
    writing.close()
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    for given in (writing.run.path, str(writing.run.path), "mnist-7", "mni"):
        assert create_trial(given).steps() == [0]


def test_a_trial_is_named_after_its_folder_unless_a_name_is_given(write: Write) -> None:
    path = write().run.path
    assert create_trial(path).name == "mnist"
    assert create_trial(path, name="baseline").name == "baseline"
    assert create_trial(path).path == path


def test_no_run_is_said_with_the_nearest_name(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    write("runs/mnist-7")
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    with pytest.raises(RunNotFound, match="Did you mean 'mnist-7'"):
        create_trial("minst-7")


def test_opening_waits_for_the_collections_of_a_run_that_starts(write: Write) -> None:
    writing = write(collections=False)
    opened: list[Trial] = []
    thread = threading.Thread(target=lambda: opened.append(create_trial(writing.run.path)))
    thread.start()
    time.sleep(0.1)
    assert not opened
    writing.collections()
    thread.join(timeout=60)
    assert "weights" in opened[0].collections()


def test_opening_waits_for_a_run_that_starts(tmp_path: Path) -> None:
    run, lease = Run.start(tmp_path / "young")
    opened: list[Trial] = []
    thread = threading.Thread(target=lambda: opened.append(create_trial(run.path)))
    thread.start()
    time.sleep(0.1)
    assert not opened
    lease.show_running()
    run.write_document("trace/collections.json", {"collections": {}})
    thread.join(timeout=60)
    assert opened[0].state() is RunState.RUNNING


def test_a_run_that_died_while_it_started_is_not_waited_for(tmp_path: Path) -> None:
    run, lease = Run.start(tmp_path / "young")
    lease.release(RunState.FAILED)
    with pytest.raises(MissingCollectionFiles):
        create_trial(run.path)


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED, RunState.ENDED])
def test_a_run_that_ended_without_collections_is_refused(write: Write, state: RunState) -> None:
    writing = write(collections=False)
    writing.close(state)
    with pytest.raises(MissingCollectionFiles, match="'mnist' ended before its first step"):
        create_trial(writing.run.path)


def test_a_run_that_nobody_trained_is_refused(tmp_path: Path) -> None:
    Run.create(tmp_path / "empty")
    with pytest.raises(MissingCollectionFiles):
        create_trial(tmp_path / "empty")


def test_a_run_whose_collections_were_lost_still_opens(write: Write) -> None:
    writing = write()
    writing.step(0, WEIGHT)
    writing.close()
    (writing.run.path / "trace" / "collections.json").unlink()
    assert create_trial(writing.run.path).tensor_names(collection="weights") == ["Net_fc.weight"]


@pytest.mark.parametrize(
    ("range_steps", "steps"),
    [((2, 5), [2, 3, 4]), ((None, 2), [0, 1]), ((7, None), [7, 8, 9]), ((20, 30), []), ((None, None), list(range(10)))],
)
def test_range_steps_shows_only_its_steps(
    write: Write, range_steps: tuple[int | None, int | None], steps: list[int]
) -> None:
    writing = write()
    for step in range(10):
        writing.step(step, WEIGHT, WEIGHT)
    writing.close()
    trial = create_trial(writing.run.path, range_steps=range_steps)
    assert trial.steps() == steps
    assert trial.recorded_steps() == steps
    assert trial.statistics()["step"].to_pylist() == steps
    assert trial.step_table()["step"].to_pylist() == steps
    assert trial.has_tensor("Net_fc.weight") == bool(steps)


@pytest.mark.parametrize("range_steps", [(5, 5), (5, 2), (-1, 3), (None, -2)])
def test_a_range_that_holds_no_step_is_refused(write: Write, range_steps: tuple[int | None, int | None]) -> None:
    with pytest.raises(ConfigurationError, match="range_steps"):
        create_trial(write().run.path, range_steps=range_steps)


@pytest.mark.parametrize("window", ["0", "-3", "many", ""])
def test_a_window_that_is_no_count_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch, window: str) -> None:
    monkeypatch.setenv("CUTAWAY_INCOMPLETE_STEP_WAIT_WINDOW", window)
    with pytest.raises(ConfigurationError, match="CUTAWAY_INCOMPLETE_STEP_WAIT_WINDOW"):
        create_trial(write().run.path)
