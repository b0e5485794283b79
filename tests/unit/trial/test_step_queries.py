"""Which steps there are, in which mode, and whether one will come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from cutaway.errors import NoMoreData, StepNotYetAvailable, StepUnavailable
from cutaway.run import RunState
from cutaway.tensors import ModeKeys, modes
from cutaway.trial import StepState, create_trial
from tests.unit.trial.conftest import Write, Writing

WEIGHT = {"Net_fc.weight": np.ones((2, 3), np.float32)}


def _interleaved(writing: Writing) -> None:
    """Global steps 0..9: two TRAIN steps, then one EVAL step, and so on; tensors are saved at even steps."""
    counts = {"TRAIN": 0, "EVAL": 0}
    for step in range(10):
        mode = "EVAL" if step % 3 == 2 else "TRAIN"
        writing.step(step, WEIGHT if step % 2 == 0 else None, WEIGHT, mode=mode, mode_step=counts[mode])
        counts[mode] += 1


def test_steps_are_those_that_saved_something_and_recorded_steps_are_all(write: Write) -> None:
    writing = write()
    _interleaved(writing)
    trial = create_trial(writing.run.path)
    assert trial.steps() == [0, 2, 4, 6, 8]
    assert trial.recorded_steps() == list(range(10))


def test_steps_of_a_mode_are_numbered_in_that_mode(write: Write) -> None:
    writing = write()
    _interleaved(writing)
    trial = create_trial(writing.run.path)
    # TRAIN is 0 1 3 4 6 7 9 and EVAL 2 5 8, of the global steps.
    assert trial.steps(modes.TRAIN) == [0, 3, 4]
    assert trial.steps(modes.EVAL) == [0, 2]
    assert trial.steps("eval") == [0, 2]
    assert trial.steps(modes.PREDICT) == []
    assert trial.recorded_steps(modes.EVAL) == [0, 1, 2]
    assert trial.modes() == [ModeKeys.TRAIN, ModeKeys.EVAL]


def test_global_and_mode_steps_lead_to_each_other(write: Write) -> None:
    writing = write()
    _interleaved(writing)
    trial = create_trial(writing.run.path)
    for step in range(10):
        assert trial.global_step(trial.mode(step), trial.mode_step(step)) == step
    assert trial.mode(5) is ModeKeys.EVAL
    assert trial.mode_step(5) == 1
    assert trial.global_step(modes.GLOBAL, 7) == 7


def test_steps_of_no_mode_are_global_and_list_no_mode(write: Write) -> None:
    writing = write()
    writing.step(0, WEIGHT, mode="GLOBAL")
    trial = create_trial(writing.run.path)
    assert trial.modes() == []
    assert trial.mode(0) is ModeKeys.GLOBAL
    assert trial.steps() == [0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda trial: trial.mode(99),
        lambda trial: trial.mode_step(99),
        lambda trial: trial.global_step(modes.TRAIN, 99),
        lambda trial: trial.samples(99),
    ],
)
def test_a_step_that_is_not_there_is_refused(write: Write, ask: Callable[..., object]) -> None:
    writing = write()
    writing.step(0, WEIGHT)
    trial = create_trial(writing.run.path)
    with pytest.raises(StepNotYetAvailable):
        ask(trial)
    writing.close()
    with pytest.raises(NoMoreData):
        ask(trial)


def test_a_step_without_its_own_row_is_not_listed_though_its_tensors_are_there(write: Write) -> None:
    writing = write()
    writing.step(0, WEIGHT, WEIGHT)
    writing.tensors(1, WEIGHT)
    writing.statistics(1, WEIGHT)
    trial = create_trial(writing.run.path)
    tensor = trial.tensor("Net_fc.weight")
    assert trial.steps() == [0]
    assert tensor.steps() == [0]
    assert trial.statistics()["step"].to_pylist() == [0]
    with pytest.raises(StepNotYetAvailable):
        tensor.value(1)
    writing.listed(1)
    assert trial.steps() == [0, 1]
    assert tensor.value(1).shape == (2, 3)
    assert trial.statistics()["step"].to_pylist() == [0, 1]


def test_a_step_has_passed_when_a_later_one_is_recorded(write: Write) -> None:
    writing = write()
    trial = create_trial(writing.run.path)
    assert trial.has_passed_step(0) is StepState.NOT_YET_AVAILABLE
    writing.step(0, WEIGHT)
    writing.step(1, seen=WEIGHT)
    assert trial.has_passed_step(0) is StepState.AVAILABLE
    assert trial.has_passed_step(1) is StepState.UNAVAILABLE  # recorded, complete and not saved
    assert trial.has_passed_step(2) is StepState.NOT_YET_AVAILABLE
    writing.step(5, WEIGHT)
    assert trial.has_passed_step(2) is StepState.UNAVAILABLE
    assert trial.has_passed_step(5) is StepState.AVAILABLE
    assert trial.has_passed_step(5, modes.EVAL) is StepState.NOT_YET_AVAILABLE
    writing.close()
    assert trial.has_passed_step(6) is StepState.UNAVAILABLE


def test_a_step_out_of_range_never_comes(write: Write) -> None:
    writing = write()
    for step in range(4):
        writing.step(step, WEIGHT)
    trial = create_trial(writing.run.path, range_steps=(1, 6))
    assert trial.has_passed_step(0) is StepState.UNAVAILABLE
    assert trial.has_passed_step(6) is StepState.UNAVAILABLE
    assert trial.has_passed_step(5) is StepState.NOT_YET_AVAILABLE
    assert trial.has_passed_step(5, modes.TRAIN) is StepState.NOT_YET_AVAILABLE
    writing.step(7, WEIGHT)
    assert trial.has_passed_step(5) is StepState.UNAVAILABLE
    with pytest.raises(NoMoreData) as caught:
        trial.wait_for_steps([5])
    assert (caught.value.step, caught.value.mode, caught.value.last_step) == (5, "GLOBAL", 3)


def test_waiting_returns_when_the_steps_are_there(write: Write) -> None:
    writing = write()
    trial = create_trial(writing.run.path)

    def train() -> None:
        for step in range(3):
            time.sleep(0.02)
            writing.step(step, WEIGHT)

    thread = threading.Thread(target=train)
    thread.start()
    trial.wait_for_steps([0, 2], modes.TRAIN)
    assert trial.steps() == [0, 1, 2]
    thread.join()


def test_waiting_for_a_step_that_was_passed_is_refused(write: Write) -> None:
    writing = write()
    writing.step(0, WEIGHT)
    writing.step(10, WEIGHT)
    trial = create_trial(writing.run.path)
    with pytest.raises(StepUnavailable) as caught:
        trial.wait_for_steps([5])
    assert (caught.value.step, caught.value.mode) == (5, "GLOBAL")


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED])
def test_waiting_ends_when_the_run_does(write: Write, state: RunState) -> None:
    writing = write()
    writing.step(0, WEIGHT)
    trial = create_trial(writing.run.path)
    threading.Timer(0.05, writing.close, [state]).start()
    with pytest.raises(NoMoreData) as caught:
        trial.wait_for_steps([0, 10])
    assert (caught.value.step, caught.value.last_step) == (10, 0)
    assert trial.state() is state


def test_a_run_is_loaded_when_it_has_ended_and_its_last_step_is_read(write: Write) -> None:
    writing = write()
    writing.step(0, WEIGHT)
    trial = create_trial(writing.run.path)
    assert not trial.loaded_all_steps
    assert not trial.job_finished()
    assert trial.state() is RunState.RUNNING
    writing.step(1, WEIGHT)
    writing.close()
    assert trial.loaded_all_steps
    assert trial.job_finished()
    assert trial.steps() == [0, 1]
    assert trial.state() is RunState.FINISHED
