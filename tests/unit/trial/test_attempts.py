"""Resumed runs: the newest attempt wins, also over what a trial has read already."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.errors import StepNotYetAvailable
from cutaway.run import RunState
from cutaway.tensors import modes
from cutaway.trial import StepState, Trial, create_trial
from tests.unit.trial.conftest import Write, Writing

NAME = "Net_fc.weight"


def _steps(writing: Writing, steps: range, value: float) -> None:
    for step in steps:
        array = {NAME: np.full(3, value, np.float32)}
        writing.step(step, array, array)


def _firsts(trial: Trial) -> dict[int, float]:
    return {step: float(value[0]) for step, value in trial.tensor(NAME).values().items()}


def test_each_step_comes_from_the_newest_attempt_that_covers_it(write: Write) -> None:
    first = write()
    _steps(first, range(6), 1.0)
    first.close(RunState.FAILED)
    second = write(run=first.run, from_step=4)
    _steps(second, range(4, 8), 2.0)
    second.close()
    trial = create_trial(first.run.path)
    assert _firsts(trial) == {0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2}
    assert trial.statistics()["max"].to_pylist() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert trial.step_table()["step"].to_pylist() == list(range(8))
    assert trial.tensor(NAME).reduction_value(5, "max") == 2
    assert trial.statistics_window(NAME, 3, 6)["max"].tolist() == [1, 2, 2]


def test_a_trial_that_has_read_a_step_lets_it_go_when_it_is_written_anew(write: Write) -> None:
    first = write()
    _steps(first, range(6), 1.0)
    trial = create_trial(first.run.path)
    assert _firsts(trial) == dict.fromkeys(range(6), 1.0)
    assert trial.statistics().num_rows == 6
    first.close(RunState.FAILED)
    assert trial.loaded_all_steps
    second = write(run=first.run, from_step=4)
    assert trial.steps() == [0, 1, 2, 3]
    assert not trial.loaded_all_steps
    assert trial.state() is RunState.RUNNING
    with pytest.raises(StepNotYetAvailable):
        trial.tensor(NAME).value(5)
    _steps(second, range(4, 6), 2.0)
    assert _firsts(trial) == {0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2}
    assert trial.statistics()["max"].to_pylist() == [1, 1, 1, 1, 2, 2]
    assert trial.steps(modes.TRAIN) == list(range(6))


def test_a_third_attempt_may_go_back_further_than_the_second(write: Write) -> None:
    first = write()
    _steps(first, range(6), 1.0)
    first.close(RunState.FAILED)
    second = write(run=first.run, from_step=5)
    _steps(second, range(5, 9), 2.0)
    second.close(RunState.FAILED)
    third = write(run=first.run, from_step=3)
    _steps(third, range(3, 5), 3.0)
    third.close()
    assert _firsts(create_trial(first.run.path)) == {0: 1, 1: 1, 2: 1, 3: 3, 4: 3}


def test_a_tensor_saved_in_a_step_that_a_kill_cut_short_can_be_read_but_the_step_is_not_listed(write: Write) -> None:
    writing = write()
    _steps(writing, range(2), 1.0)
    writing.tensors(2, {"by_hand": np.full(3, 7.0)})
    trial = create_trial(writing.run.path)
    assert not trial.has_tensor("by_hand")  # the step may still be listed
    writing.leases["worker_0"].release(RunState.ENDED)
    assert trial.tensor("by_hand").steps() == [2]
    assert trial.tensor("by_hand").steps(modes.TRAIN) == []
    assert trial.tensor("by_hand").value(2)[0] == 7
    assert "by_hand" in trial.tensor_names()
    assert trial.tensor_names(step=0) == [NAME]
    assert trial.steps() == [0, 1]
    assert trial.has_passed_step(2) is StepState.UNAVAILABLE
    second = write(run=writing.run, from_step=None)
    assert not trial.has_tensor("by_hand")
    _steps(second, range(2, 3), 2.0)
    assert trial.steps() == [0, 1, 2]


def test_a_step_that_was_torn_by_a_kill_stays_hidden_and_is_replaced(write: Write) -> None:
    first = write()
    _steps(first, range(2), 1.0)
    first.tensors(2, {NAME: np.zeros(3, np.float32)})
    first.close(RunState.FAILED)
    trial = create_trial(first.run.path)
    assert trial.steps() == [0, 1]
    second = write(run=first.run, from_step=None)
    _steps(second, range(2, 3), 2.0)
    assert _firsts(trial) == {0: 1, 1: 1, 2: 2}
