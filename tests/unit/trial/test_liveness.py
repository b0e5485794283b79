"""Leases of other machines: a trial never waits for them, it remembers when they moved."""

from __future__ import annotations

import time
from typing import Any

import pytest

from cutaway.run import RunState
from cutaway.run.leases import LEASE_SECONDS, Lease
from cutaway.trial import create_trial, liveness
from cutaway.trial.liveness import Liveness
from tests.unit.trial.conftest import Write, Writing


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def far_away(write: Write, monkeypatch: pytest.MonkeyPatch) -> Writing:
    """A run whose training looks as if it were on another machine."""
    monkeypatch.setattr(liveness, "is_here", lambda lease: False)
    return write()


def _lease(writing: Writing) -> Lease:
    return writing.leases["worker_0"]


def test_a_lease_that_moves_is_alive_and_one_that_stops_is_lost(far_away: Writing) -> None:
    clock = Clock()
    watch = Liveness(far_away.run, clock)
    assert watch.look() is RunState.RUNNING
    for _ in range(5):
        clock.now += LEASE_SECONDS * 0.9
        _lease(far_away).beat()
        assert watch.look() is RunState.RUNNING
    clock.now += LEASE_SECONDS * 0.9
    assert watch.look() is RunState.RUNNING
    clock.now += LEASE_SECONDS * 0.2
    assert watch.look() is RunState.LOST
    _lease(far_away).beat()
    assert watch.look() is RunState.RUNNING  # the network was gone, not the training


def test_a_trial_takes_a_lost_run_up_again(far_away: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    trial = create_trial(far_away.run.path)
    monkeypatch.setattr(trial._follower._liveness, "_clock", clock)
    clock.now = time.monotonic() + 2 * LEASE_SECONDS
    assert trial.loaded_all_steps
    assert trial.state() is RunState.LOST
    _lease(far_away).beat()
    far_away.step(0, {"weight": [1.0]})
    assert trial.steps() == [0]
    assert not trial.loaded_all_steps


def test_a_released_lease_says_how_it_ended(far_away: Writing) -> None:
    far_away.close(RunState.FAILED)
    assert Liveness(far_away.run).look() is RunState.FAILED


def test_the_last_word_of_a_process_that_is_gone_counts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = write()

    def dies(lease: dict[str, Any]) -> bool:
        writing.close(RunState.FINISHED)  # between our two looks
        return False

    monkeypatch.setattr(liveness, "is_alive", dies)
    assert Liveness(writing.run).look() is RunState.FINISHED


def test_a_process_that_is_gone_without_a_word_has_crashed(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "is_alive", lambda lease: False)
    assert Liveness(write().run).look() is RunState.CRASHED
