"""`no_refresh` and `refresh`."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from cutaway.errors import StepNotYetAvailable
from cutaway.tensors import Collections
from cutaway.trial import create_trial, no_refresh, refresh
from tests.unit.trial.conftest import Write

WEIGHT = {"Net_fc.weight": np.ones(3, np.float32)}


def test_within_no_refresh_a_trial_stays_as_it_was(write: Write) -> None:
    writing = write()
    writing.step(0, WEIGHT, WEIGHT)
    trial = create_trial(writing.run.path)
    with no_refresh(trial) as same:
        assert same is trial
        writing.step(1, {**WEIGHT, "new": np.ones(2)}, WEIGHT)
        assert trial.steps() == [0]
        assert trial.tensor_names() == ["Net_fc.weight"]
        assert trial.statistics()["step"].to_pylist() == [0]
        assert not trial.has_tensor("new")
        with pytest.raises(StepNotYetAvailable):
            trial.tensor("Net_fc.weight").value(1)
    assert trial.steps() == [0, 1]
    assert trial.has_tensor("new")


def test_refresh_looks_again_also_inside_no_refresh(write: Write) -> None:
    writing = write()
    trial = create_trial(writing.run.path)
    with no_refresh(trial):
        writing.step(0, WEIGHT)
        with refresh(trial):
            assert trial.steps() == [0]
        writing.step(1, WEIGHT)
        assert trial.steps() == [0]
    assert trial.steps() == [0, 1]


def test_several_trials_at_once_and_after_an_error(write: Write) -> None:
    writings = [write("a"), write("b")]
    trials = [create_trial(writing.run.path) for writing in writings]
    with no_refresh(trials):
        writings[1].step(0, WEIGHT)
        assert [trial.steps() for trial in trials] == [[], []]
    assert [trial.steps() for trial in trials] == [[], [0]]
    with contextlib.suppress(ZeroDivisionError), no_refresh(trials):
        raise ZeroDivisionError
    writings[0].step(0, WEIGHT)
    assert [trial.steps() for trial in trials] == [[0], [0]]


def test_waiting_looks_again_also_inside_no_refresh(write: Write) -> None:
    writing = write()
    trial = create_trial(writing.run.path)
    writing.step(0, WEIGHT)
    with no_refresh(trial):
        trial.wait_for_steps([0])
        assert trial.steps() == [0]


def test_collections_that_a_live_hook_adds_are_seen_by_the_next_look_and_not_within_no_refresh(write: Write) -> None:
    writing = write()
    writing.collections()
    writing.step(0, WEIGHT)
    trial = create_trial(writing.run.path)
    assert trial.tensor_names(collection="weights") == ["Net_fc.weight"]
    more = Collections()
    more.get("mine").include("fc")
    with no_refresh(trial):
        assert "mine" not in trial.collections()
        writing.collections(more)
        assert "mine" not in trial.collections()
    assert trial.tensor_names(collection="mine") == ["Net_fc.weight"]
    with no_refresh(trial):
        assert "mine" in trial.collections()
