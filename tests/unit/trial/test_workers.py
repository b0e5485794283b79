"""Steps of several workers: when one is complete."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.run import RunState
from cutaway.tensors import modes
from cutaway.trial import StepState, create_trial
from tests.unit.trial.conftest import Write

WEIGHT = {"Net_fc.weight": np.ones(3, np.float32)}
TWO = ("worker_0", "worker_1")


def test_a_step_is_complete_when_all_workers_have_written_it(write: Write) -> None:
    writing = write(workers=TWO)
    trial = create_trial(writing.run.path)
    assert trial.workers() == ["worker_0", "worker_1"]
    writing.step(0, WEIGHT, worker="worker_0")
    assert trial.steps() == []
    assert trial.steps(show_incomplete_steps=True) == [0]
    assert trial.tensor("Net_fc.weight").steps() == []
    assert trial.tensor("Net_fc.weight").steps(show_incomplete_steps=True) == [0]
    assert trial.recorded_steps() == []
    assert trial.has_passed_step(0) is StepState.NOT_YET_AVAILABLE
    writing.step(0, WEIGHT, worker="worker_1")
    assert trial.steps() == [0]
    assert trial.steps(modes.TRAIN) == [0]
    assert trial.has_passed_step(0) is StepState.AVAILABLE


def test_a_step_is_complete_when_a_later_one_is(write: Write) -> None:
    writing = write(workers=TWO)
    trial = create_trial(writing.run.path)
    writing.step(0, WEIGHT, worker="worker_0")
    writing.step(2, WEIGHT, worker="worker_0")
    assert trial.has_passed_step(1) is StepState.NOT_YET_AVAILABLE  # worker_1 may still save it
    writing.step(2, WEIGHT, worker="worker_1")
    assert trial.steps() == [0, 2]
    assert trial.has_passed_step(1) is StepState.UNAVAILABLE
    writing.step(3, WEIGHT, worker="worker_1")
    assert trial.steps() == [0, 2]


def test_all_steps_are_complete_when_the_training_has_ended(write: Write) -> None:
    writing = write(workers=TWO)
    writing.step(0, WEIGHT, worker="worker_0")
    trial = create_trial(writing.run.path)
    assert trial.steps() == []
    writing.close(RunState.FAILED)
    assert trial.steps() == [0]


def test_a_worker_that_has_finished_is_not_waited_for(write: Write) -> None:
    writing = write(workers=TWO)
    trial = create_trial(writing.run.path)
    writing.step(0, WEIGHT, worker="worker_0")
    writing.step(0, WEIGHT, worker="worker_1")
    writing.close(workers=["worker_1"])
    writing.step(1, WEIGHT, worker="worker_0")
    assert trial.steps() == [0, 1]
    assert not trial.loaded_all_steps


def test_workers_that_were_announced_are_waited_for(write: Write) -> None:
    writing = write()
    writing.run.identity["attempts"][-1]["workers"] = 2
    writing.run.save_identity()
    writing.step(0, WEIGHT)
    trial = create_trial(writing.run.path)
    assert trial.steps() == []
    writing.leases["worker_1"] = writing.run.join_attempt("worker_1", writing.attempt)
    writing.step(0, WEIGHT, worker="worker_1")
    assert trial.steps() == [0]


def test_past_the_window_half_of_what_waits_counts_as_complete(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTAWAY_INCOMPLETE_STEP_WAIT_WINDOW", "6")
    writing = write(workers=TWO)
    trial = create_trial(writing.run.path)
    for step in range(6):
        writing.step(step, WEIGHT, worker="worker_0")
    assert trial.steps() == []
    writing.step(6, WEIGHT, worker="worker_0")
    assert trial.steps() == [0, 1, 2]
    assert trial.steps(show_incomplete_steps=True) == list(range(7))


def test_a_resumed_run_waits_only_for_the_workers_of_its_newest_attempt(write: Write) -> None:
    first = write(workers=TWO)
    for step in range(3):
        first.step(step, WEIGHT, worker="worker_0")
    first.step(0, WEIGHT, worker="worker_1")
    first.close(RunState.FAILED)
    second = write(run=first.run, from_step=2)
    trial = create_trial(first.run.path)
    assert trial.steps() == [0, 1]
    second.step(2, WEIGHT)
    assert trial.steps() == [0, 1, 2]


def test_the_last_complete_step_of_no_mode_is_counted_globally(write: Write) -> None:
    writing = write(workers=TWO)
    for worker in TWO:
        writing.step(0, WEIGHT, worker=worker)
        writing.step(5, WEIGHT, worker=worker, mode="GLOBAL", mode_step=0)
    writing.step(7, WEIGHT, worker="worker_0", mode="GLOBAL", mode_step=5)
    trial = create_trial(writing.run.path)
    assert trial.steps() == [0, 5]
    assert trial.has_passed_step(3) is StepState.UNAVAILABLE
    assert trial.has_passed_step(6) is StepState.NOT_YET_AVAILABLE
